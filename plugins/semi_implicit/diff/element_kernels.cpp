// SPDX-License-Identifier: Apache-2.0
// Kernels of elements, from the formulas that the forward solver uses.
#include "diff/element_kernels.hpp"

#include <array>
#include <string>

#include "novaphy/semi_implicit/formula/bending.h"
#include "novaphy/semi_implicit/formula/spring.h"
#include "novaphy/semi_implicit/formula/tetrahedron.h"
#include "novaphy/semi_implicit/formula/triangle.h"

namespace novaphy::semi_implicit {

namespace {

using nova::Expr;
using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

constexpr const char* kCornerForces[] = {"f0", "f1", "f2", "f3"};

/// Positions and velocities of the corners, then `more`; forces as `writes` says.
nova::KernelDesc describe(const char* name, Writes writes, const char* corners, Row corners_row,
                          int corner_count, std::initializer_list<nova::In> more) {
  nova::KernelDesc desc{.name = name,
                        .in = {in("x", Row::vec3).gather(corners, corner_count),
                               in("v", Row::vec3).gather(corners, corner_count)},
                        .out = {},
                        .index = {nova::index(corners, corners_row)}};
  desc.in.insert(desc.in.end(), more);
  if (writes == Writes::scatter) desc.out.push_back(out("f", Row::vec3).scatter_sub(corners, corner_count));
  for (int k = 0; writes == Writes::rows && k < corner_count; ++k)
    desc.out.push_back(out(kCornerForces[k], Row::vec3));
  return desc;
}

template <std::size_t N>
void write_forces(nova::KernelScope& k, Writes writes, const std::array<Vec3E, N>& forces) {
  if (writes == Writes::scatter) return k.write("f", forces);
  for (std::size_t corner = 0; corner < N; ++corner) k.write(kCornerForces[corner], forces[corner]);
}

/// Forces of elements all of whose corners are particles; scattering alone would skip single corners.
template <std::size_t N>
std::array<Vec3E, N> where_complete(const std::array<nova::Int, N>& corners, std::array<Vec3E, N> forces) {
  nova::Mask complete = corners[0] >= nova::Int(0);
  for (std::size_t k = 1; k < N; ++k) complete = both(complete, corners[k] >= nova::Int(0));
  const Vec3E zero{Expr(0.0f), Expr(0.0f), Expr(0.0f)};
  for (Vec3E& force : forces) force = select(complete, force, zero);
  return forces;
}

}  // namespace

nova::Kernel make_springs_kernel(Writes writes) {
  const auto desc = describe(
      "springs", writes, "spring", Row::ivec2, 2,
      {in("ke", Row::f32).rate_static(), in("kd", Row::f32).rate_static(), in("rest_length", Row::f32)});
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [writes](nova::KernelScope& k) {
    const auto x = k.vec3s<2>("x"), v = k.vec3s<2>("v");
    const Vec3E force =
        formula::spring_force<Expr>(x[0], x[1], v[0], v[1], {k.f32("ke"), k.f32("kd"), k.f32("rest_length")});
    write_forces(k, writes, where_complete<2>(k.ivec2("spring"), {force, -force}));
  });
}

nova::Kernel make_triangles_kernel(Writes writes) {
  const auto desc = describe("triangles", writes, "tri", Row::ivec3, 3,
                             {in("rest", Row::mat22).rate_static(), in("material", Row::vec5).rate_static(),
                              in("activation", Row::f32)});
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [writes](nova::KernelScope& k) {
    const auto rest = formula::prepare_triangle<Expr>(k.mat22("rest"), k.vec5("material"));
    write_forces(k, writes,
                 formula::triangle_forces(k.vec3s<3>("x"), k.vec3s<3>("v"), rest, k.f32("activation")));
  });
}

nova::Kernel make_bending_kernel(Writes writes) {
  const auto desc =
      describe("bending", writes, "edge", Row::ivec4, 4,
               {in("material", Row::vec2).rate_static(), in("rest_angle", Row::f32).rate_static()});
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [writes](nova::KernelScope& k) {
    const auto material = k.vec2("material");
    const auto forces = formula::bending_forces<Expr>(k.vec3s<4>("x"), k.vec3s<4>("v"),
                                                      {material.x, material.y, k.f32("rest_angle")});
    write_forces(k, writes, where_complete(k.ivec4("edge"), forces));
  });
}

nova::Kernel make_tetrahedra_kernel(Writes writes) {
  const auto desc = describe("tetrahedra", writes, "tet", Row::ivec4, 4,
                             {in("rest", Row::mat33).rate_static(), in("material", Row::vec3).rate_static(),
                              in("activation", Row::f32)});
  return nova::make_indexed_expr_kernel_typed_access_n(desc, [writes](nova::KernelScope& k) {
    const auto rest = formula::prepare_tetrahedron(k.mat33("rest"), k.vec3("material"));
    write_forces(k, writes,
                 formula::tetrahedron_forces(k.vec3s<4>("x"), k.vec3s<4>("v"), rest, k.f32("activation")));
  });
}

const nova::Kernel& springs_kernel() {
  static const nova::Kernel kernel = make_springs_kernel(Writes::scatter);
  return kernel;
}
const nova::Kernel& triangles_kernel() {
  static const nova::Kernel kernel = make_triangles_kernel(Writes::scatter);
  return kernel;
}
const nova::Kernel& bending_kernel() {
  static const nova::Kernel kernel = make_bending_kernel(Writes::scatter);
  return kernel;
}
const nova::Kernel& tetrahedra_kernel() {
  static const nova::Kernel kernel = make_tetrahedra_kernel(Writes::scatter);
  return kernel;
}

}  // namespace novaphy::semi_implicit
