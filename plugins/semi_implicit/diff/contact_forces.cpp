// SPDX-License-Identifier: Apache-2.0
// Contact forces from records: one row a particle summed over shapes (diff/record_contacts.cpp: one row a
// record).
#include "diff/contact_records.hpp"
#include "diff/kernels.hpp"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/collision/traced_material.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::semi_implicit {

namespace {

using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

nova::Kernel make_pair_kernel() {
  const nova::KernelDesc desc{
      .name = "particle_shape_contact",
      .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3), in("radius", Row::f32).rate_static(),
             in("flags", Row::flags).rate_static(), in("point", Row::vec3).gather("tids").constant(),
             in("normal", Row::vec3).gather("tids").constant(), in("ke", Row::f32).domain().rate_static(),
             in("kd", Row::f32).domain().rate_static(), in("kf", Row::f32).domain().rate_static(),
             in("mu", Row::f32).domain().rate_static(), in("soft", Row::vec4).uniform().rate_static(),
             in("particle_material", Row::spatial).uniform().rate_static().constant()},
      .out = {out("total", Row::vec3), out("f_out", Row::vec3)},
      .index = {nova::index("tids").pair()}};
  return nova::make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      desc, nova::domain("shape"), [](nova::KernelScope& k) { return k.vec3("f"); },
      [](nova::KernelScope& k, nova::Acc<Vec3E>& force) {
        const Vec3E normal = k.vec3("normal");
        const nova::Expr gap =
            collision::formula::soft_contact_gap(k.vec3("x"), k.f32("radius"), k.vec3("point"), normal);
        const nova::Mask touching = both(collision::is_active(k), collision::touches(k, gap));
        force.sub_if(
            both(k.i32("tids") >= nova::Int(0), touching),
            collision::formula::soft_contact_force(gap, normal, k.vec3("v"), collision::contact_material(k)));
      },
      [](nova::KernelScope& k, const Vec3E& force) {
        k.write("total", force);
        k.write("f_out", force);
      });
}

void subtract_by_pair(const Model& model, const SimState& state, const ContactRecords& records,
                      const DeviceArray& sum, const DeviceArray& total, const MaterialRows& materials) {
  const nova::Operand inputs[] = {state.particle_q,
                                  state.particle_qd,
                                  sum,
                                  model.particle_radius,
                                  model.particle_flags,
                                  *records.point,
                                  *records.normal,
                                  model.shape_material_ke,
                                  model.shape_material_kd,
                                  model.shape_material_kf,
                                  model.shape_material_mu,
                                  materials.soft,
                                  materials.particle,
                                  *records.tids};
  const nova::Operand outputs[] = {total, state.particle_f};
  nova::launch(pair_contact_kernel(), inputs, outputs, model.particle_count, model.shape_count);
}

}  // namespace

const nova::Kernel& pair_contact_kernel() {
  static const nova::Kernel kernel = make_pair_kernel();
  return kernel;
}

void MaterialRows::follow(const Model& model) {
  if (soft.storage() != model.soft_contact_material.storage()) soft = collision::soft_contact_row(model);
  if (particle.storage() != model.particle_contact_material.storage())
    particle = collision::particle_contact_row(model);
}

void add_contact_forces(const Model& model, SimState& state, const ContactRecords& records,
                        const DeviceArray& sum, DeviceArray& total, MaterialRows& materials) {
  materials.follow(model);
  if (records.tids != nullptr) {
    subtract_by_pair(model, state, records, sum, total, materials);
    return;
  }
  if (&total != &sum) nova::assign(total, nova::Tensor(sum));
  subtract_by_record(model, state, records, total, materials);
  nova::assign(state.particle_f, nova::Tensor(total));
}

}  // namespace novaphy::semi_implicit
