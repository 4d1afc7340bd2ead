// SPDX-License-Identifier: Apache-2.0
#include "diff/pair_forces.hpp"

#include <array>

#include "novaphy/semi_implicit/formula/particle_particle.h"
#include "novaphy/semi_implicit/formula/triangle_particle.h"

namespace novaphy::semi_implicit {

namespace {

using nova::Expr;
using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

nova::Kernel make_particle_kernel() {
  return nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "particle_particle_contact",
       .in = {in("x", Row::vec3).gather("pair", 2), in("v", Row::vec3).gather("pair", 2),
              in("radius", Row::f32).gather("pair", 2).rate_static(),
              in("material", Row::spatial).uniform().rate_static()},
       .out = {out("f", Row::vec3).scatter_add("pair", 2)},
       .index = {nova::index("pair", Row::ivec2)}},
      [](nova::KernelScope& k) {
        const auto x = k.vec3s<2>("x"), v = k.vec3s<2>("v");
        const auto radius = k.f32s<2>("radius");
        const nova::SpatialE material = k.spatial("material");
        const Vec3E apart = x[0] - x[1];
        const Expr gap = formula::particle_gap(apart, radius[0], radius[1]);
        const Vec3E force = formula::particle_contact_force<Expr>(
            apart, v[0] - v[1], gap,
            {material.linear.x, material.linear.y, material.linear.z, material.angular.x});
        k.write("f", std::array<Vec3E, 2>{force, -force});
      });
}

nova::Kernel make_triangle_kernel() {
  return nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "triangle_particle_contact",
       .in = {in("x", Row::vec3).gather("corner", 4),
              in("radius", Row::f32).gather("corner", 1).rate_static(),
              in("soft", Row::vec4).uniform().rate_static()},
       .out = {out("f", Row::vec3).scatter_add("corner", 4)},
       .index = {nova::index("corner", Row::ivec4)}},
      [](nova::KernelScope& k) {
        k.write("f", formula::triangle_contact_forces(formula::approach_triangle(k.vec3s<4>("x")),
                                                      k.f32("radius"), k.vec4("soft").x));
      });
}

/// The indices in memory of their own, which a recording keeps.
template <std::size_t N>
DeviceArray indices_of(std::span<const std::array<std::int32_t, N>> pairs) {
  return DeviceArray::from(std::span(pairs[0].data(), pairs.size() * N),
                           Shape{static_cast<std::int64_t>(pairs.size()), std::int64_t{N}});
}

}  // namespace

const nova::Kernel& particle_pair_kernel() {
  static const nova::Kernel kernel = make_particle_kernel();
  return kernel;
}

const nova::Kernel& triangle_pair_kernel() {
  static const nova::Kernel kernel = make_triangle_kernel();
  return kernel;
}

void add_pair_forces(const Model& model, const TouchingPairs& pairs, const DeviceArray& q,
                     const DeviceArray& qd, const DeviceArray& material, const DeviceArray& soft,
                     const DeviceArray& total) {
  if (!pairs.particles().empty()) {
    const DeviceArray indices = indices_of(pairs.particles());
    nova::launch(particle_pair_kernel(), {q, qd, model.particle_radius, material, indices}, {total},
                 indices.rows());
  }
  if (!pairs.triangles().empty()) {
    const DeviceArray indices = indices_of(pairs.triangles());
    nova::launch(triangle_pair_kernel(), {q, model.particle_radius, soft, indices}, {total}, indices.rows());
  }
}

}  // namespace novaphy::semi_implicit
