// SPDX-License-Identifier: Apache-2.0
// The generated integration kernel, and what other kernels that end with a step share with it.
#include "diff/kernels.hpp"
#include "novaphy/collision/traced_material.hpp"

namespace novaphy::semi_implicit {

using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

namespace {

/// Gravity of this row's particle: that of its world; particles of no world see row 0.
Vec3E gravity_of_particle(nova::KernelScope& k, bool one_world) {
  const Vec3E first = k.vec3("gravity");
  if (one_world) return first;
  return select(k.i32("world_index") < nova::Int(0), first, k.vec3("world_gravity"));
}

}  // namespace

void write_step(nova::KernelScope& k, const formula::ParticleMotion<nova::Expr>& now, const Vec3E& force,
                bool one_world) {
  const auto next = formula::integrate_particle(
      now, force, k.f32("inv_mass"), gravity_of_particle(k, one_world), k.f32("max_velocity"), k.f32("dt"));
  const nova::Mask active = collision::is_active(k);
  k.write("q_out", select(active, next.q, now.q));
  k.write("qd_out", select(active, next.qd, now.qd));
}

void append_step_inputs(nova::KernelDesc& desc, bool one_world) {
  desc.in.push_back(in("inv_mass", Row::f32).rate_static());
  desc.in.push_back(in("gravity", Row::vec3).uniform().rate_static());
  desc.in.push_back(in("max_velocity", Row::f32).value());
  desc.in.push_back(in("dt", Row::f32).value());
  desc.out = {out("q_out", Row::vec3), out("qd_out", Row::vec3)};
  if (one_world) return;
  desc.in.push_back(in("world_gravity", Row::vec3).gather("world_index").rate_static());
  desc.index = {nova::index("world_index")};
}

namespace {

nova::Kernel make_integration_kernel(bool one_world) {
  nova::KernelDesc desc{.name = "integrate_particles",
                        .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3),
                               in("flags", Row::flags).rate_static()},
                        .out = {}};
  append_step_inputs(desc, one_world);
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [one_world](nova::KernelScope& k) {
    write_step(k, {k.vec3("x"), k.vec3("v")}, k.vec3("f"), one_world);
  });
}

}  // namespace

const nova::Kernel& integration_kernel(bool one_world) {
  static const nova::Kernel one = make_integration_kernel(true), several = make_integration_kernel(false);
  return one_world ? one : several;
}

}  // namespace novaphy::semi_implicit
