// SPDX-License-Identifier: Apache-2.0
// The kernels of the random recordings; each formula is a template, so that float64 has the same one.
#pragma once

#include <cmath>

#include "novaphy/nova/kernel.hpp"

namespace nova::test {

/// float64 with a derivative along one direction.
struct Dual {
  double value = 0, slope = 0;
  Dual() = default;
  Dual(double v, double d = 0) : value(v), slope(d) {}
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend Dual sin(Dual a) { return {std::sin(a.value), a.slope * std::cos(a.value)}; }
};

template <class T>
T mixed(T a, T b) {
  return sin(a) * sin(b) + a * T(0.5f);
}
template <class T>
T blended(T a, T b, T weight) {
  return a * weight - b * T(0.25f);
}
template <class T>
T pull(T near, T far, T weight) {
  return (near - far) * sin(weight) * T(0.5f);
}
template <class T>
T energy(T near, T far) {
  return (near - far) * sin(near) * T(0.25f);
}
template <class T>
T paired(T x, T row, T pair) {
  return sin(x + row) * pair * T(0.25f);
}

/// out = mixed(a, b)
inline Kernel make_mixed_kernel() {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "fuzz_mixed", .in = {in("a", Row::f32), in("b", Row::f32)}, .out = {out("out", Row::f32)}},
      [](KernelScope& k) { k.write("out", mixed(k.f32("a"), k.f32("b"))); });
}

/// out += blended(a, b, weight); row_sum = the sum of it
inline Kernel make_blended_kernel() {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "fuzz_blended",
       .in = {in("a", Row::f32), in("b", Row::f32), in("weight", Row::f32).value()},
       .out = {out("out", Row::f32).add(), out("total", Row::f32).sum()}},
      [](KernelScope& k) {
        const Expr moved = blended(k.f32("a"), k.f32("b"), k.f32("weight"));
        k.write("out", moved), k.write("total", moved);
      });
}

/// Springs along the edges of an index: forces scattered, energies summed.
inline Kernel make_pull_kernel() {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "fuzz_pull",
       .in = {in("x", Row::f32).gather("edge", 2), in("weight", Row::f32)},
       .out = {out("force", Row::f32).scatter_sub("edge", 2), out("energy", Row::f32).sum()},
       .index = {index("edge", Row::ivec2)}},
      [](KernelScope& k) {
        const auto x = k.read_columns<Expr, 2>("x");
        const Expr force = pull(x[0], x[1], k.f32("weight"));
        k.write("force", std::array<Expr, 2>{force, Expr(0.0f) - force});
        k.write("energy", energy(x[0], x[1]));
      });
}

/// out = x / 2 + sum over s of paired(x, row s, pair (e, s))
inline Kernel make_paired_kernel() {
  return make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "fuzz_paired",
       .in = {in("x", Row::f32), in("row", Row::f32).domain(), in("pair", Row::f32).pair()},
       .out = {out("out", Row::f32)}},
      nova::domain("row"), [](KernelScope& k) { return k.f32("x") * 0.5f; },
      [](KernelScope& k, auto& sum) { sum.add(paired(k.f32("x"), k.f32("row"), k.f32("pair"))); });
}

}  // namespace nova::test
