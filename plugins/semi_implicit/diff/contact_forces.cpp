// SPDX-License-Identifier: Apache-2.0
// Contact forces from records: one row a particle summed over shapes, or one row a record.
#include <iterator>
#include <vector>

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

struct TracedContact {
  nova::Mask touching;
  Vec3E force;
};

TracedContact trace_contact(nova::KernelScope& k, bool skip_carried_shapes) {
  const Vec3E normal = k.vec3("normal");
  const nova::Expr gap =
      collision::formula::soft_contact_gap(k.vec3("x"), k.f32("radius"), k.vec3("point"), normal);
  nova::Mask touching = both(collision::is_active(k), collision::touches(k, gap));
  if (skip_carried_shapes) touching = both(touching, k.i32("shape_body") < nova::Int(0));
  return {touching,
          collision::formula::soft_contact_force(gap, normal, k.vec3("v"), collision::contact_material(k))};
}

nova::Kernel make_pair_kernel(bool skip_carried_shapes) {
  nova::KernelDesc desc{
      .name = "particle_shape_contact",
      .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3), in("radius", Row::f32).rate_static(),
             in("flags", Row::flags).rate_static(), in("point", Row::vec3).gather("tids").constant(),
             in("normal", Row::vec3).gather("tids").constant(), in("ke", Row::f32).domain().rate_static(),
             in("kd", Row::f32).domain().rate_static(), in("kf", Row::f32).domain().rate_static(),
             in("mu", Row::f32).domain().rate_static(), in("soft", Row::vec4).uniform().rate_static(),
             in("particle_material", Row::spatial).uniform().rate_static().constant()},
      .out = {out("total", Row::vec3), out("f_out", Row::vec3)},
      .index = {nova::index("tids").pair()}};
  if (skip_carried_shapes) desc.in.push_back(in("shape_body", Row::i32).domain().rate_static());
  return nova::make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      desc, nova::domain("shape"), [](nova::KernelScope& k) { return k.vec3("f"); },
      [=](nova::KernelScope& k, nova::Acc<Vec3E>& force) {
        const TracedContact contact = trace_contact(k, skip_carried_shapes);
        force.sub_if(both(k.i32("tids") >= nova::Int(0), contact.touching), contact.force);
      },
      [](nova::KernelScope& k, const Vec3E& force) {
        k.write("total", force);
        k.write("f_out", force);
      });
}

nova::Kernel make_record_kernel(bool skip_carried_shapes) {
  nova::KernelDesc desc{
      .name = "particle_shape_contact_records",
      .in = {in("x", Row::vec3).gather("particle"), in("v", Row::vec3).gather("particle"),
             in("radius", Row::f32).gather("particle").rate_static(),
             in("flags", Row::flags).gather("particle").rate_static(), in("point", Row::vec3).constant(),
             in("normal", Row::vec3).constant(), in("ke", Row::f32).gather("shape").rate_static(),
             in("kd", Row::f32).gather("shape").rate_static(),
             in("kf", Row::f32).gather("shape").rate_static(),
             in("mu", Row::f32).gather("shape").rate_static(), in("soft", Row::vec4).uniform().rate_static(),
             in("particle_material", Row::spatial).uniform().rate_static().constant()},
      .out = {out("total", Row::vec3).scatter_sub("particle")},
      .index = {nova::index("particle"), nova::index("shape")}};
  if (skip_carried_shapes) desc.in.push_back(in("shape_body", Row::i32).gather("shape").rate_static());
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [=](nova::KernelScope& k) {
    const TracedContact contact = trace_contact(k, skip_carried_shapes);
    const nova::Expr zero(0.0f);
    k.write("total", select(contact.touching, contact.force, Vec3E{zero, zero, zero}));
  });
}

}  // namespace

const nova::Kernel& pair_contact_kernel(bool skip_carried_shapes) {
  static const nova::Kernel all = make_pair_kernel(false), some = make_pair_kernel(true);
  return skip_carried_shapes ? some : all;
}

const nova::Kernel& record_contact_kernel(bool skip_carried_shapes) {
  static const nova::Kernel all = make_record_kernel(false), some = make_record_kernel(true);
  return skip_carried_shapes ? some : all;
}

namespace {

/// A view of the rows in use.
DeviceArray in_use(const DeviceArray& array, std::int64_t rows) {
  const Shape shape = array.shape().ndim() == 1 ? Shape{rows} : Shape{rows, array.shape()[1]};
  return DeviceArray(array.storage(), array.dtype(), shape);
}

void subtract_by_pair(const Model& model, const ContactRecords& records, const DeviceArray& q,
                      const DeviceArray& qd, const DeviceArray& f, const DeviceArray& total,
                      const MaterialRows& materials, bool skip_carried_shapes) {
  const DeviceArray& last = skip_carried_shapes ? model.shape_body : *records.tids;
  const nova::Operand inputs[] = {q,
                                  qd,
                                  f,
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
                                  last,
                                  *records.tids};
  const nova::Operand outputs[] = {total, f};
  const std::size_t used = std::size(inputs) - (skip_carried_shapes ? 0 : 1);
  nova::launch(pair_contact_kernel(skip_carried_shapes), std::span(inputs).first(used), outputs, model.particle_count,
               model.shape_count);
}

void subtract_by_record(const Model& model, const ContactRecords& records, const DeviceArray& q,
                        const DeviceArray& qd, DeviceArray& f, DeviceArray& total,
                        const MaterialRows& materials, bool skip_carried_shapes) {
  const DeviceArray point = in_use(*records.point, records.used),
                    normal = in_use(*records.normal, records.used);
  const DeviceArray particle = in_use(*records.particle, records.used),
                    shape = in_use(*records.shape, records.used);
  std::vector<nova::Operand> inputs{q,
                                    qd,
                                    model.particle_radius,
                                    model.particle_flags,
                                    point,
                                    normal,
                                    model.shape_material_ke,
                                    model.shape_material_kd,
                                    model.shape_material_kf,
                                    model.shape_material_mu,
                                    materials.soft,
                                    materials.particle};
  if (skip_carried_shapes) inputs.emplace_back(model.shape_body);
  inputs.insert(inputs.end(), {particle, shape});
  const nova::Operand outputs[] = {total};
  nova::assign(total, nova::Tensor(f));
  nova::launch(record_contact_kernel(skip_carried_shapes), inputs, outputs, records.used);
  nova::assign(f, nova::Tensor(total));
}

}  // namespace

void MaterialRows::follow(const Model& model) {
  if (soft.storage() != model.soft_contact_material.storage()) soft = collision::soft_contact_row(model);
  if (particle.storage() != model.particle_contact_material.storage())
    particle = collision::particle_contact_row(model);
}

void add_contact_forces(const Model& model, const ContactRecords& records, const DeviceArray& q,
                        const DeviceArray& qd, DeviceArray& f, DeviceArray& total, MaterialRows& materials,
                        bool skip_carried_shapes) {
  materials.follow(model);
  if (records.tids != nullptr) {
    subtract_by_pair(model, records, q, qd, f, total, materials, skip_carried_shapes);
  } else {
    subtract_by_record(model, records, q, qd, f, total, materials, skip_carried_shapes);
  }
}

}  // namespace novaphy::semi_implicit
