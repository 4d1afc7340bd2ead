// SPDX-License-Identifier: Apache-2.0
// The scalar of a formula's forward form: a float32 of a type of our own, the twin of Nova's traced scalar.
//
// It takes the same operators, functions and literals as nova::Expr, with the same bits. `abs`, `sqrt`, `pow`
// and all others are found in this namespace by their argument, never those of the C library, which would
// compute in int or double; what Nova does not know does not compile here either. It costs what float costs.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "novaphy/elementary.hpp"
#include "novaphy/math.hpp"

namespace novaphy {

/// The result of a comparison: for select(), both(), either() and negate().
class Truth {
 public:
  template <std::same_as<bool> Bool>
  constexpr Truth(Bool value) noexcept : value_(value) {}
  /// For forces without a gradient: a traced one cannot be branched on.
  constexpr explicit operator bool() const noexcept { return value_; }

 private:
  bool value_;
};

/// A float32.
class F32 {
 public:
  F32() = default;
  constexpr F32(float value) noexcept : value_(value) {}
  /// Refused while compiling: C++ would compute `x * 0.1` in double, Nova in float32.
  template <std::same_as<double> Double>
  constexpr F32(Double) noexcept {
    static_assert(sizeof(Double) == 0, "literals of a formula are float32: write 0.1f instead of 0.1");
  }
  constexpr explicit operator float() const noexcept { return value_; }

 private:
  float value_;
};

/// An int32 that wraps around where it overflows.
class I32 {
 public:
  I32() = default;
  constexpr I32(std::int32_t value) noexcept : value_(value) {}
  constexpr explicit operator std::int32_t() const noexcept { return value_; }

 private:
  std::int32_t value_;
};
static_assert(std::is_trivial_v<F32> && sizeof(F32) == 4 && std::is_trivial_v<I32> && sizeof(I32) == 4);

namespace detail {
constexpr float number(F32 a) noexcept {
  return static_cast<float>(a);
}
constexpr std::int32_t number(I32 a) noexcept {
  return static_cast<std::int32_t>(a);
}
constexpr std::uint32_t word(I32 a) noexcept {
  return static_cast<std::uint32_t>(number(a));
}
constexpr I32 wrapped(std::uint32_t a) noexcept {
  return static_cast<std::int32_t>(a);
}
constexpr I32 wrapped(std::int64_t a) noexcept {
  return static_cast<std::int32_t>(a);
}
}  // namespace detail

// clang-format off
constexpr F32 operator+(F32 a, F32 b) noexcept { return detail::number(a) + detail::number(b); }
constexpr F32 operator-(F32 a, F32 b) noexcept { return detail::number(a) - detail::number(b); }
constexpr F32 operator*(F32 a, F32 b) noexcept { return detail::number(a) * detail::number(b); }
constexpr F32 operator/(F32 a, F32 b) noexcept { return detail::number(a) / detail::number(b); }
constexpr F32 operator-(F32 a) noexcept { return -detail::number(a); }
constexpr F32& operator+=(F32& a, F32 b) noexcept { return a = a + b; }
constexpr F32& operator-=(F32& a, F32 b) noexcept { return a = a - b; }
constexpr F32& operator*=(F32& a, F32 b) noexcept { return a = a * b; }
constexpr F32& operator/=(F32& a, F32 b) noexcept { return a = a / b; }

constexpr Truth operator<(F32 a, F32 b) noexcept { return detail::number(a) < detail::number(b); }
constexpr Truth operator<=(F32 a, F32 b) noexcept { return detail::number(a) <= detail::number(b); }
constexpr Truth operator>(F32 a, F32 b) noexcept { return b < a; }
constexpr Truth operator>=(F32 a, F32 b) noexcept { return b <= a; }
constexpr Truth operator==(F32 a, F32 b) noexcept { return detail::number(a) == detail::number(b); }
constexpr Truth operator!=(F32 a, F32 b) noexcept { return detail::number(a) != detail::number(b); }
constexpr Truth negate(Truth a) noexcept { return !static_cast<bool>(a); }
constexpr Truth operator!(Truth a) noexcept { return negate(a); }
constexpr Truth both(Truth a, Truth b) noexcept { return static_cast<bool>(a) && static_cast<bool>(b); }
constexpr Truth either(Truth a, Truth b) noexcept { return static_cast<bool>(a) || static_cast<bool>(b); }

/// condition ? a : b.
constexpr F32 select(Truth condition, F32 a, F32 b) noexcept { return static_cast<bool>(condition) ? a : b; }
constexpr F32 select(Truth condition, float a, float b) noexcept { return select(condition, F32(a), F32(b)); }
constexpr I32 select(Truth condition, I32 a, I32 b) noexcept { return static_cast<bool>(condition) ? a : b; }

// Those of novaphy/math.hpp and novaphy/elementary.hpp.
inline F32 abs(F32 a) noexcept { return abs(detail::number(a)); }
inline F32 sqrt(F32 a) noexcept { return sqrt(detail::number(a)); }
inline F32 min(F32 a, F32 b) noexcept { return min(detail::number(a), detail::number(b)); }
inline F32 max(F32 a, F32 b) noexcept { return max(detail::number(a), detail::number(b)); }
inline F32 fma(F32 a, F32 b, F32 c) noexcept {
  return fma(detail::number(a), detail::number(b), detail::number(c));
}
inline F32 floor(F32 a) noexcept { return floor(detail::number(a)); }
inline F32 sin(F32 a) noexcept { return sin(detail::number(a)); }
inline F32 cos(F32 a) noexcept { return cos(detail::number(a)); }
inline F32 tan(F32 a) noexcept { return tan(detail::number(a)); }
inline F32 asin(F32 a) noexcept { return asin(detail::number(a)); }
inline F32 acos(F32 a) noexcept { return acos(detail::number(a)); }
inline F32 atan(F32 a) noexcept { return atan(detail::number(a)); }
inline F32 atan2(F32 y, F32 x) noexcept { return atan2(detail::number(y), detail::number(x)); }
inline F32 exp(F32 a) noexcept { return exp(detail::number(a)); }
inline F32 log(F32 a) noexcept { return log(detail::number(a)); }
inline F32 tanh(F32 a) noexcept { return tanh(detail::number(a)); }
inline F32 pow(F32 a, F32 b) noexcept { return pow(detail::number(a), detail::number(b)); }
/// Products for exponents from 0 to 8. A template, so that pow(x, 2.5f) is not this one.
template <std::same_as<int> N>
F32 pow(F32 a, N n) noexcept { return pow(detail::number(a), n); }

constexpr I32 operator+(I32 a, I32 b) noexcept { return detail::wrapped(detail::word(a) + detail::word(b)); }
constexpr I32 operator-(I32 a, I32 b) noexcept { return detail::wrapped(detail::word(a) - detail::word(b)); }
constexpr I32 operator*(I32 a, I32 b) noexcept { return detail::wrapped(detail::word(a) * detail::word(b)); }
constexpr I32 operator-(I32 a) noexcept { return I32(0) - a; }
constexpr I32 operator&(I32 a, I32 b) noexcept { return detail::number(a) & detail::number(b); }
constexpr I32 operator|(I32 a, I32 b) noexcept { return detail::number(a) | detail::number(b); }
constexpr I32 operator^(I32 a, I32 b) noexcept { return detail::number(a) ^ detail::number(b); }
/// Towards zero; x / 0 = 0.
constexpr I32 operator/(I32 a, I32 b) noexcept {
  const std::int64_t x = detail::number(a), y = detail::number(b);
  return y == 0 ? I32(0) : detail::wrapped(x / y);
}
/// a - (a / b) * b, with the sign of a; x % 0 = 0.
constexpr I32 operator%(I32 a, I32 b) noexcept {
  const std::int64_t x = detail::number(a), y = detail::number(b);
  return y == 0 ? I32(0) : detail::wrapped(x % y);
}
/// By the low five bits of the count.
constexpr I32 operator<<(I32 a, I32 count) noexcept {
  return detail::wrapped(detail::word(a) << (detail::word(count) & 31u));
}
/// The sign is kept.
constexpr I32 operator>>(I32 a, I32 count) noexcept {
  return detail::number(a) >> (detail::word(count) & 31u);
}

constexpr Truth operator<(I32 a, I32 b) noexcept { return detail::number(a) < detail::number(b); }
constexpr Truth operator<=(I32 a, I32 b) noexcept { return detail::number(a) <= detail::number(b); }
constexpr Truth operator>(I32 a, I32 b) noexcept { return b < a; }
constexpr Truth operator>=(I32 a, I32 b) noexcept { return b <= a; }
constexpr Truth operator==(I32 a, I32 b) noexcept { return detail::number(a) == detail::number(b); }
constexpr Truth operator!=(I32 a, I32 b) noexcept { return detail::number(a) != detail::number(b); }
constexpr I32 min(I32 a, I32 b) noexcept { return select(a < b, a, b); }
constexpr I32 max(I32 a, I32 b) noexcept { return select(a > b, a, b); }
// clang-format on

/// Rounded to nearest.
constexpr F32 to_float(I32 a) noexcept {
  return static_cast<float>(detail::number(a));
}
/// Towards zero; too large: the nearest int32, NaN: 0.
constexpr I32 to_int(F32 a) noexcept {
  using Limits = std::numeric_limits<std::int32_t>;
  const float x = detail::number(a);
  if (x >= -0x1p31f && x < 0x1p31f) return static_cast<std::int32_t>(x);
  return x < 0.0f ? Limits::min() : x > 0.0f ? Limits::max() : 0;
}

}  // namespace novaphy
