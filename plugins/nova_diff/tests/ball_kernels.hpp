// SPDX-License-Identifier: Apache-2.0
// A ball-like step: contact forces over the shapes, then integration. As heavy as the engine's, for tests and
// the benchmark.
#pragma once

#include "novaphy/nova/kernel.hpp"

namespace nova::test {

inline Kernel make_contact_kernel() {
  return make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "contact_forces",
       .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3), in("radius", Row::f32),
              in("flags", Row::flags), in("point", Row::vec3).gather("record"),
              in("normal", Row::vec3).gather("record"), in("ke", Row::f32).domain(),
              in("kd", Row::f32).domain(), in("kf", Row::f32).domain(), in("mu", Row::f32).domain(),
              in("soft_ke", Row::f32).uniform(), in("soft_kd", Row::f32).uniform(),
              in("soft_kf", Row::f32).uniform(), in("soft_mu", Row::f32).uniform()},
       .out = {out("total", Row::vec3)},
       .index = {index("record").pair()}},
      domain("shape"), [](KernelScope& k) { return k.vec3("f"); },
      [](KernelScope& k, Acc<Vec3E>& sum) {
        const auto half = [&](const char* a, const char* b) { return Expr(0.5f) * (k.f32(a) + k.f32(b)); };
        const Expr ke = half("soft_ke", "ke"), kd = half("soft_kd", "kd"), kf = half("soft_kf", "kf"),
                   mu = half("soft_mu", "mu");
        const Vec3E x = k.vec3("x"), v = k.vec3("v"), n = k.vec3("normal");
        const Expr depth = dot(n, x - k.vec3("point")) - k.f32("radius"), vn = dot(n, v);
        const Vec3E vt = v - n * vn;
        const Expr cap = abs(mu * depth * ke);
        const Vec3E force =
            n * depth * ke + (n * min(vn, 0.0f) * kd + normalize(vt) * min(kf * length(vt), cap));
        const Mask active = both(k.i32("record") >= 0, (k.flags("flags") & 1) != 0);
        sum.sub_if(both(active, depth <= 0.0f), force);
      });
}

inline Kernel make_integrate_kernel() {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "integrate_particles",
       .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3), in("inv_mass", Row::f32),
              in("flags", Row::flags), in("gravity", Row::vec3).uniform(), in("v_max", Row::f32).value(),
              in("dt", Row::f32).value()},
       .out = {out("x_next", Row::vec3), out("v_next", Row::vec3)}},
      [](KernelScope& k) {
        const Vec3E x = k.vec3("x"), v = k.vec3("v");
        const Expr w = k.f32("inv_mass"), dt = k.f32("dt"), v_max = k.f32("v_max");
        const Expr s = select(w > 0.0f, 1.0f, 0.0f);
        Vec3E next = v + (k.vec3("f") * w + k.vec3("gravity") * s) * dt;
        const Expr speed = length(next);
        next = novaphy::select(speed > v_max, next * (v_max / speed), next);
        const Mask active = (k.flags("flags") & 1) != 0;
        k.write("v_next", novaphy::select(active, next, v));
        k.write("x_next", novaphy::select(active, x + next * dt, x));
      });
}

}  // namespace nova::test
