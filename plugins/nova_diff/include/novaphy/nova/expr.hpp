// SPDX-License-Identifier: Apache-2.0
// The traced scalar: arithmetic on Expr, Int and Mask appends operations to the program that is being
// recorded.
//
// novaphy::Vec3T<Expr> and the other types of novaphy/math.hpp work as with float, so a formula header that
// is written once over its scalar serves the forward solver and the kernel, with the same roundings.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

#include "novaphy/math.hpp"
#include "novaphy/nova/program.hpp"
#include "novaphy/nova/trace.hpp"

namespace nova {

/// A truth value of one row.
struct Mask {
  std::uint32_t node = kNone;
};

/// A float32 of one row.
struct Expr {
  std::uint32_t node = kNone;
  Expr() = default;
  Expr(float value) : node(trace_constant(value)) {}
  /// Refused while compiling: over float, `x * 0.1` would be computed in double and rounded once, with other bits.
  template <std::same_as<double> Double>
  Expr(Double) {
    static_assert(sizeof(Double) == 0, "literals of a formula are float32: write 0.1f instead of 0.1");
  }
  static Expr of(std::uint32_t node) {
    Expr out;
    out.node = node;
    return out;
  }
};

/// An int32 of one row.
struct Int {
  std::uint32_t node = kNone;
  Int() = default;
  Int(std::int32_t value) : node(trace_constant(value)) {}
  static Int of(std::uint32_t node) {
    Int out;
    out.node = node;
    return out;
  }
};

using Vec2E = novaphy::Vec2T<Expr>;
using Vec3E = novaphy::Vec3T<Expr>;
using Vec4E = novaphy::Vec4T<Expr>;
using QuatE = novaphy::QuatT<Expr>;
using TransformE = novaphy::TransformT<Expr>;
using SpatialE = novaphy::SpatialT<Expr>;
using Mat22E = novaphy::Mat22T<Expr>;
using Mat33E = novaphy::Mat33T<Expr>;

namespace detail {
inline Expr f(Op op, Expr a, Expr b) {
  return Expr::of(trace(op, ValueType::f32, a.node, b.node));
}
inline Expr f(Op op, Expr a) {
  return Expr::of(trace(op, ValueType::f32, a.node));
}
inline Int i(Op op, Int a, Int b) {
  return Int::of(trace(op, ValueType::i32, a.node, b.node));
}
inline Mask m(Op op, std::uint32_t a, std::uint32_t b = kNone) {
  return {trace(op, ValueType::mask, a, b)};
}
}  // namespace detail

inline Expr operator+(Expr a, Expr b) {
  return detail::f(Op::add, a, b);
}
inline Expr operator-(Expr a, Expr b) {
  return detail::f(Op::sub, a, b);
}
inline Expr operator*(Expr a, Expr b) {
  return detail::f(Op::mul, a, b);
}
inline Expr operator/(Expr a, Expr b) {
  return detail::f(Op::div, a, b);
}
inline Expr operator-(Expr a) {
  return detail::f(Op::neg, a);
}
inline Expr& operator+=(Expr& a, Expr b) {
  return a = a + b;
}
inline Expr& operator-=(Expr& a, Expr b) {
  return a = a - b;
}
inline Expr& operator*=(Expr& a, Expr b) {
  return a = a * b;
}
inline Expr& operator/=(Expr& a, Expr b) {
  return a = a / b;
}
inline Expr sqrt(Expr a) {
  return detail::f(Op::sqrt, a);
}
inline Expr abs(Expr a) {
  return detail::f(Op::abs, a);
}
inline Expr min(Expr a, Expr b) {
  return detail::f(Op::min, a, b);
}
inline Expr max(Expr a, Expr b) {
  return detail::f(Op::max, a, b);
}
inline Expr fma(Expr a, Expr b, Expr c) {
  return Expr::of(trace(Op::fma, ValueType::f32, a.node, b.node, c.node));
}

inline Expr floor(Expr a) {
  return detail::f(Op::floor, a);
}
// The bits of novaphy/elementary.hpp.
inline Expr sin(Expr a) {
  return detail::f(Op::sin, a);
}
inline Expr cos(Expr a) {
  return detail::f(Op::cos, a);
}
inline Expr tan(Expr a) {
  return detail::f(Op::tan, a);
}
inline Expr asin(Expr a) {
  return detail::f(Op::asin, a);
}
inline Expr acos(Expr a) {
  return detail::f(Op::acos, a);
}
inline Expr atan2(Expr y, Expr x) {
  return detail::f(Op::atan2, y, x);
}
inline Expr atan(Expr a) {
  return atan2(a, Expr(1.0f));
}
inline Expr exp(Expr a) {
  return detail::f(Op::exp, a);
}
inline Expr log(Expr a) {
  return detail::f(Op::log, a);
}
inline Expr pow(Expr a, Expr b) {
  return detail::f(Op::pow, a, b);
}
/// Products for exponents from 0 to 8, with the roundings of pow(float, int).
template <std::same_as<int> N>
Expr pow(Expr a, N n) {
  return 0 <= n && n <= 8 ? novaphy::power(a, n) : pow(a, Expr(static_cast<float>(n)));
}
inline Expr tanh(Expr a) {
  return detail::f(Op::tanh, a);
}

inline Mask negate(Mask a) {
  return detail::m(Op::mask_not, a.node);
}
inline Mask both(Mask a, Mask b) {
  return detail::m(Op::mask_and, a.node, b.node);
}
inline Mask either(Mask a, Mask b) {
  return detail::m(Op::mask_or, a.node, b.node);
}
inline Mask operator!(Mask a) {
  return negate(a);
}

inline Mask operator<(Expr a, Expr b) {
  return detail::m(Op::less, a.node, b.node);
}
inline Mask operator<=(Expr a, Expr b) {
  return detail::m(Op::less_equal, a.node, b.node);
}
inline Mask operator>(Expr a, Expr b) {
  return b < a;
}
inline Mask operator>=(Expr a, Expr b) {
  return b <= a;
}
inline Mask operator==(Expr a, Expr b) {
  return detail::m(Op::equal, a.node, b.node);
}
inline Mask operator!=(Expr a, Expr b) {
  return negate(a == b);
}

inline Int operator+(Int a, Int b) {
  return detail::i(Op::iadd, a, b);
}
inline Int operator-(Int a, Int b) {
  return detail::i(Op::isub, a, b);
}
inline Int operator*(Int a, Int b) {
  return detail::i(Op::imul, a, b);
}
inline Int operator&(Int a, Int b) {
  return detail::i(Op::iand, a, b);
}
inline Int operator|(Int a, Int b) {
  return detail::i(Op::ior, a, b);
}
inline Int operator^(Int a, Int b) {
  return detail::i(Op::ixor, a, b);
}
/// Towards zero; x / 0 = 0.
inline Int operator/(Int a, Int b) {
  return detail::i(Op::idiv, a, b);
}
/// a - (a / b) * b, with the sign of a; x % 0 = 0.
inline Int operator%(Int a, Int b) {
  return detail::i(Op::imod, a, b);
}
/// By the low five bits of the count.
inline Int operator<<(Int a, Int count) {
  return detail::i(Op::shift_left, a, count);
}
/// The sign is kept.
inline Int operator>>(Int a, Int count) {
  return detail::i(Op::shift_right, a, count);
}
inline Int operator-(Int a) {
  return Int(0) - a;
}
/// Rounded to nearest. No derivative.
inline Expr to_float(Int a) {
  return Expr::of(trace(Op::to_f32, ValueType::f32, a.node));
}
/// Towards zero; too large: the nearest int32, NaN: 0. Gradients end here.
inline Int to_int(Expr a) {
  return Int::of(trace(Op::to_i32, ValueType::i32, a.node));
}

inline Mask operator<(Int a, Int b) {
  return detail::m(Op::iless, a.node, b.node);
}
inline Mask operator<=(Int a, Int b) {
  return detail::m(Op::iless_equal, a.node, b.node);
}
inline Mask operator>(Int a, Int b) {
  return b < a;
}
inline Mask operator>=(Int a, Int b) {
  return b <= a;
}
inline Mask operator==(Int a, Int b) {
  return detail::m(Op::iequal, a.node, b.node);
}
inline Mask operator!=(Int a, Int b) {
  return negate(a == b);
}

/// condition ? a : b. Both arms are evaluated; the arm that is not taken never disturbs value or gradient.
inline Expr select(Mask condition, Expr a, Expr b) {
  return Expr::of(trace(Op::select, ValueType::f32, condition.node, a.node, b.node));
}
inline Expr select(Mask condition, float a, float b) {
  return select(condition, Expr(a), Expr(b));
}
inline Int select(Mask condition, Int a, Int b) {
  return Int::of(trace(Op::select, ValueType::i32, condition.node, a.node, b.node));
}
inline Int min(Int a, Int b) {
  return select(a < b, a, b);
}
inline Int max(Int a, Int b) {
  return select(a > b, a, b);
}

// clang-format off
/// The numbers of a row type in memory order: visit(value, f) calls f(number&) for each.
template <class T> struct RowTraits;
template <> struct RowTraits<Expr> {
  static constexpr int width = 1;
  template <class V, class F> static void visit(V& v, F f) { f(v); }
};
template <> struct RowTraits<Int> {
  static constexpr int width = 1;
  template <class V, class F> static void visit(V& v, F f) { f(v); }
};
template <std::size_t N> struct RowTraits<std::array<Int, N>> {
  static constexpr int width = static_cast<int>(N);
  template <class V, class F> static void visit(V& v, F f) { for (auto& x : v) f(x); }
};
template <std::size_t N> struct RowTraits<std::array<Expr, N>> {
  static constexpr int width = static_cast<int>(N);
  template <class V, class F> static void visit(V& v, F f) { for (auto& x : v) f(x); }
};
template <> struct RowTraits<Vec2E> {
  static constexpr int width = 2;
  template <class V, class F> static void visit(V& v, F f) { f(v.x), f(v.y); }
};
template <> struct RowTraits<Vec3E> {
  static constexpr int width = 3;
  template <class V, class F> static void visit(V& v, F f) { f(v.x), f(v.y), f(v.z); }
};
template <> struct RowTraits<Vec4E> {
  static constexpr int width = 4;
  template <class V, class F> static void visit(V& v, F f) { f(v.x), f(v.y), f(v.z), f(v.w); }
};
template <> struct RowTraits<QuatE> {
  static constexpr int width = 4;
  template <class V, class F> static void visit(V& v, F f) { f(v.x), f(v.y), f(v.z), f(v.w); }
};
template <> struct RowTraits<TransformE> {
  static constexpr int width = 7;
  template <class V, class F> static void visit(V& v, F f) {
    RowTraits<Vec3E>::visit(v.p, f), RowTraits<QuatE>::visit(v.q, f);
  }
};
template <> struct RowTraits<SpatialE> {
  static constexpr int width = 6;
  template <class V, class F> static void visit(V& v, F f) {
    RowTraits<Vec3E>::visit(v.linear, f), RowTraits<Vec3E>::visit(v.angular, f);
  }
};
template <> struct RowTraits<Mat22E> {
  static constexpr int width = 4;
  template <class V, class F> static void visit(V& v, F f) { for (auto& row : v.m) for (auto& x : row) f(x); }
};
template <> struct RowTraits<Mat33E> {
  static constexpr int width = 9;
  template <class V, class F> static void visit(V& v, F f) { for (auto& row : v.m) for (auto& x : row) f(x); }
};

// clang-format on
}  // namespace nova
