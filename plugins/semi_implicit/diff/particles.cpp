// SPDX-License-Identifier: Apache-2.0
// Generated integration kernels.
#include "diff/particles.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "diff/kernels.hpp"
#include "novaphy/collision/static_contact_kernel.hpp"
#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

namespace {

using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

void require_positive(const char* who, float dt) {
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, who, ": dt is ", dt,
                  "; give a positive time in s");
}

nova::Kernel make_contact_integration_kernel(bool one_world) {
  nova::KernelDesc desc{
      .name = "integrate_with_static_contacts", .in = collision::static_contact_inputs(), .out = {}};
  desc.in.push_back(in("f", Row::vec3));
  append_step_inputs(desc, one_world);
  return nova::make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      desc, nova::domain("shape"), [](nova::KernelScope& k) { return k.vec3("f"); },
      [](nova::KernelScope& k, nova::Acc<Vec3E>& force) { collision::subtract_static_contact(k, force); },
      [one_world](nova::KernelScope& k, const Vec3E& force) {
        write_step(k, {k.vec3("x"), k.vec3("v")}, force, one_world);
      });
}

const nova::Kernel& contact_integration_kernel(const Model& model) {
  static const nova::Kernel one = make_contact_integration_kernel(true),
                            several = make_contact_integration_kernel(false);
  return model.world_count > 1 ? several : one;
}

ParticleTensors make_outputs(const Model& model) {
  const Shape shape{model.particle_count, 3};
  return {nova::Tensor(shape, DType::f32, model.device), nova::Tensor(shape, DType::f32, model.device)};
}

}  // namespace

void integrate_particles(const Model& model, const DeviceArray& q, const DeviceArray& qd,
                         const DeviceArray& f, const DeviceArray& q_out, const DeviceArray& qd_out,
                         float dt) {
  const nova::Operand outputs[] = {q_out, qd_out};
  const nova::Operand inputs[] = {q,
                                  qd,
                                  f,
                                  model.particle_flags,
                                  model.particle_inv_mass,
                                  model.gravity,
                                  model.particle_max_velocity,
                                  dt,
                                  model.gravity,
                                  model.particle_world};
  const std::size_t used = model.world_count > 1 ? std::size(inputs) : std::size(inputs) - 2;
  nova::launch(integration_kernel(model.world_count <= 1), std::span(inputs).first(used), outputs,
               model.particle_count);
}

ParticleTensors integrate_particles_generated(const Model& model, const nova::Tensor& particle_q,
                                              const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                              float dt) {
  require_positive("integrate_particles_generated", dt);
  const ParticleTensors next = make_outputs(model);
  integrate_particles(model, particle_q.array(), particle_qd.array(), particle_f.array(), next.q.array(),
                      next.qd.array(), dt);
  return next;
}

void integrate_particles_with_static_contacts(const Model& model, const DeviceArray& q, const DeviceArray& qd,
                                              const DeviceArray& f, const DeviceArray& q_out,
                                              const DeviceArray& qd_out, float soft_contact_margin,
                                              float dt) {
  collision::StaticContactOperands inputs(model, q, qd, soft_contact_margin);
  inputs.operands.insert(inputs.operands.end(),
                         {f, model.particle_inv_mass, model.gravity, model.particle_max_velocity, dt});
  if (model.world_count > 1)
    inputs.operands.insert(inputs.operands.end(), {model.gravity, model.particle_world});
  const nova::Operand outputs[] = {q_out, qd_out};
  nova::launch(contact_integration_kernel(model), inputs.operands, outputs, model.particle_count,
               model.shape_count);
}

ParticleTensors integrate_particles_with_static_contacts_generated(
    const Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
    const nova::Tensor& particle_f, float soft_contact_margin, float dt, bool ignore_body_shapes) {
  constexpr const char* kName = "integrate_particles_with_static_contacts_generated";
  require_positive(kName, dt);
  collision::check_static_contact(model, soft_contact_margin, ignore_body_shapes, kName);
  const ParticleTensors next = make_outputs(model);
  integrate_particles_with_static_contacts(model, particle_q.array(), particle_qd.array(), particle_f.array(),
                                           next.q.array(), next.qd.array(), soft_contact_margin, dt);
  return next;
}

}  // namespace novaphy::semi_implicit
