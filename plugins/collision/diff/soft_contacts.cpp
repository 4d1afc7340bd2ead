// SPDX-License-Identifier: Apache-2.0
// The contact force alone: one kernel, one row a particle, summed over the shapes in their order.
#include "diff/soft_contacts.hpp"

#include "novaphy/collision/static_contact_kernel.hpp"

namespace novaphy::collision {

namespace {

const nova::Kernel& contact_force_kernel() {
  static const nova::Kernel kernel = [] {
    nova::KernelDesc desc{.name = "static_particle_shape_contact",
                          .in = static_contact_inputs(),
                          .out = {nova::out("f_out", nova::Row::vec3)}};
    desc.in.push_back(nova::in("f", nova::Row::vec3));
    return nova::make_indexed_fixed_reduce_expr_kernel_typed_access_n(
        desc, nova::domain("shape"), [](nova::KernelScope& k) { return k.vec3("f"); },
        [](nova::KernelScope& k, nova::Acc<nova::Vec3E>& force) { subtract_static_contact(k, force); });
  }();
  return kernel;
}

}  // namespace

void subtract_static_contacts(const Model& model, const DeviceArray& particle_q,
                              const DeviceArray& particle_qd, const DeviceArray& f, const DeviceArray& f_out,
                              float margin) {
  StaticContactOperands inputs(model, particle_q, particle_qd, margin);
  inputs.operands.emplace_back(f);
  const nova::Operand outputs[] = {f_out};
  nova::launch(contact_force_kernel(), inputs.operands, outputs, model.particle_count, model.shape_count);
}

nova::Tensor eval_static_particle_shape_contact_forces_generated(
    const Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
    const nova::Tensor& particle_f, float soft_contact_margin, bool ignore_body_shapes) {
  check_static_contact(model, soft_contact_margin, ignore_body_shapes,
                       "eval_static_particle_shape_contact_forces_generated");
  nova::Tensor out(Shape{model.particle_count, 3}, DType::f32, model.device);
  subtract_static_contacts(model, particle_q.array(), particle_qd.array(), particle_f.array(), out.array(),
                           soft_contact_margin);
  return out;
}

}  // namespace novaphy::collision
