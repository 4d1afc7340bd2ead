// SPDX-License-Identifier: Apache-2.0
// A kernel that uses every way of reaching rows that patches know.
#pragma once

#include <array>

#include "novaphy/nova/kernel.hpp"

namespace nova::test {

/// Gathers rows of several widths, scatters to three outputs, sums to a fourth, sets a fifth.
inline Kernel make_many_outputs_kernel() {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "many_outputs",
       .in = {in("x", Row::vec3).gather("corner", 4), in("m", Row::mat33).gather("corner", 2, 1),
              in("w", Row::f32), in("k", Row::vec2).uniform()},
       .out = {out("f", Row::vec3).scatter_sub("corner", 4),
               out("g", Row::transform).scatter_add("corner", 2, 2),
               out("h", Row::f32).scatter_add("corner", 1, 1), out("energy", Row::f32).sum(),
               out("row", Row::vec2)},
       .index = {index("corner", Row::ivec4)}},
      [](KernelScope& k) {
        const auto x = k.vec3s<4>("x");
        const auto m = k.read_columns<Mat33E, 2>("m");
        const Expr w = k.f32("w");
        const Vec2E c = k.vec2("k");
        std::array<Vec3E, 4> f;
        for (std::size_t q = 0; q < 4; ++q)
          f[q] = (x[q] - x[(q + 1) % 4]) * (w * c.x) + m[q % 2] * x[(q + 2) % 4];
        k.write("f", f);
        k.write("g", std::array<TransformE, 2>{TransformE{f[0], {w, c.y, x[0].x, x[1].y}},
                                               TransformE{f[1], {x[3].z, w, m[0].m[1][1], c.x}}});
        k.write("h", dot(x[0], x[1]) * w);
        k.write("energy", dot(f[0], f[1]) + dot(f[2], f[3]) * c.y);
        k.write("row", Vec2E{f[0].x + f[1].y, w * x[2].z});
      });
}

}  // namespace nova::test
