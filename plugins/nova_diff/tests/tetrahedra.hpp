// SPDX-License-Identifier: Apache-2.0
// A block of tetrahedra and a force kernel as heavy as the engine's, for tests and the benchmark.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "novaphy/nova/kernel.hpp"

namespace nova::test {

/// A block of cells, five tetrahedra each, in the order of the builder's soft grid.
struct TetrahedronGrid {
  explicit TetrahedronGrid(int n) : TetrahedronGrid(n, n, n) {}
  TetrahedronGrid(int nx, int ny, int nz) {
    const auto at = [&](int x, int y, int z) { return x + (nx + 1) * (y + (ny + 1) * z); };
    for (int z = 0; z <= nz; ++z)
      for (int y = 0; y <= ny; ++y)
        for (int x = 0; x <= nx; ++x)
          for (const int k : {x, y, z}) points.push_back(0.1f * static_cast<float>(k));
    static constexpr int kOdd[5][4] = {{0, 1, 4, 3}, {2, 3, 6, 1}, {5, 4, 1, 6}, {7, 6, 3, 4}, {4, 1, 6, 3}};
    static constexpr int kEven[5][4] = {{1, 2, 5, 0}, {3, 0, 7, 2}, {4, 7, 0, 5}, {6, 5, 2, 7}, {5, 2, 7, 0}};
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          const int corner[8] = {
              at(x, y, z),     at(x + 1, y, z),     at(x + 1, y, z + 1),     at(x, y, z + 1),
              at(x, y + 1, z), at(x + 1, y + 1, z), at(x + 1, y + 1, z + 1), at(x, y + 1, z + 1)};
          for (const auto& cell : ((x ^ y ^ z) & 1) != 0 ? kOdd : kEven)
            for (const int k : cell) corners.push_back(corner[k]);
        }
    vertices = static_cast<std::int64_t>(points.size() / 3);
    elements = static_cast<std::int64_t>(corners.size() / 4);
  }
  std::vector<std::int32_t> corners;  ///< four a tetrahedron
  std::vector<float> points;
  std::int64_t vertices = 0, elements = 0;
};

inline Mat33E times(const Mat33E& a, const Mat33E& b) {
  Mat33E c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      c.m[i][j] = fma(a.m[i][2], b.m[2][j], fma(a.m[i][1], b.m[1][j], a.m[i][0] * b.m[0][j]));
  return c;
}

/// Elastic and damping forces of tetrahedra, taken from their four corners. Another `shift` is another
/// program.
inline Kernel make_tetrahedron_kernel(float shift = 1.0f) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "tetrahedron_forces",
       .in = {in("x", Row::vec3).gather("corner", 4), in("v", Row::vec3).gather("corner", 4),
              in("rest", Row::mat33).rate_static(), in("material", Row::vec3).rate_static(),
              in("activation", Row::f32)},
       .out = {out("f", Row::vec3).scatter_sub("corner", 4)},
       .index = {index("corner", Row::ivec4)}},
      [=](KernelScope& k) {
        const auto x = k.vec3s<4>("x"), v = k.vec3s<4>("v");
        const Mat33E rest = k.mat33("rest");
        const Vec3E material = k.vec3("material");
        const auto columns = [](const std::array<Vec3E, 4>& p) {
          const Vec3E a = p[1] - p[0], b = p[2] - p[0], c = p[3] - p[0];
          return Mat33E{{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
        };
        const auto determinant = [](const Mat33E& a) {
          const Vec3E r0{a.m[0][0], a.m[0][1], a.m[0][2]}, r1{a.m[1][0], a.m[1][1], a.m[1][2]},
              r2{a.m[2][0], a.m[2][1], a.m[2][2]};
          return dot(r0, cross(r1, r2));
        };
        const Expr inverse_volume = determinant(rest) * 6.0f, volume = Expr(1.0f) / inverse_volume;
        const Expr mu = material.x * volume, lambda = material.y * volume, damping = material.z * volume;
        const Expr alpha = (Expr(1.0f) + material.x / material.y) - material.x / (Expr(4.0f) * material.y);
        const Mat33E edges = columns(x), f = times(edges, rest), rate = times(columns(v), rest);
        const auto square = [&](int c) {
          return f.m[0][c] * f.m[0][c] + f.m[1][c] * f.m[1][c] + f.m[2][c] * f.m[2][c];
        };
        const Expr invariant = (square(0) + square(1)) + square(2);
        const Expr shrink = Expr(1.0f) - Expr(1.0f) / (invariant + shift);
        Mat33E stress, rest_t;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            stress.m[i][j] = (f.m[i][j] * mu) * shrink + rate.m[i][j] * damping;
            rest_t.m[i][j] = rest.m[j][i];
          }
        const Mat33E h = times(stress, rest_t);
        const Expr scale = inverse_volume / 6.0f;
        const std::array<Vec3E, 3> e{x[1] - x[0], x[2] - x[0], x[3] - x[0]};
        const std::array<Vec3E, 3> d{cross(e[1], e[2]) * scale, cross(e[2], e[0]) * scale,
                                     cross(e[0], e[1]) * scale};
        const Expr pressure = ((determinant(f) - alpha) + k.f32("activation")) * lambda +
                              (dot(d[0], v[1]) + dot(d[1], v[2]) + dot(d[2], v[3])) * damping;
        std::array<Vec3E, 4> force;
        for (int c = 0; c < 3; ++c)
          force[static_cast<std::size_t>(c + 1)] =
              Vec3E{h.m[0][c], h.m[1][c], h.m[2][c]} + d[static_cast<std::size_t>(c)] * pressure;
        force[0] = -((force[1] + force[2]) + force[3]);
        k.write("f", force);
      });
}

}  // namespace nova::test
