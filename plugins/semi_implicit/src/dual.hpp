// SPDX-License-Identifier: Apache-2.0
// A float32 with its derivative in one direction: formulas over this scalar give products with their Jacobians.
//
// Derivatives at singular points are those of Nova: none through the square root of 0, nor through acos at its ends.
#pragma once

#include "novaphy/elementary.hpp"
#include "novaphy/math.hpp"

namespace novaphy::semi_implicit {

struct Dual {
  float value = 0.0f, slope = 0.0f;
  Dual() = default;
  Dual(float number, float direction = 0.0f) : value(number), slope(direction) {}
};

// clang-format off
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator-(Dual a) { return {-a.value, -a.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Dual operator/(Dual a, Dual b) {
  const float ratio = a.value / b.value;
  return {ratio, (a.slope - ratio * b.slope) / b.value};
}
inline bool operator<(Dual a, Dual b) { return a.value < b.value; }
inline bool operator<=(Dual a, Dual b) { return a.value <= b.value; }
inline bool operator>(Dual a, Dual b) { return b < a; }
inline bool operator>=(Dual a, Dual b) { return b <= a; }
inline bool operator==(Dual a, Dual b) { return a.value == b.value; }
inline Dual select(bool condition, Dual a, Dual b) { return condition ? a : b; }
inline Dual abs(Dual a) { return a.value < 0.0f ? -a : a; }
inline Dual sqrt(Dual a) {
  const float root = novaphy::sqrt(a.value);
  return {root, root > 0.0f ? 0.5f * a.slope / root : 0.0f};
}
inline Dual min(Dual a, Dual b) { return a.value < b.value ? a : b; }
inline Dual max(Dual a, Dual b) { return a.value > b.value ? a : b; }
inline Dual fma(Dual a, Dual b, Dual c) { return a * b + c; }
inline Dual acos(Dual a) {
  const float root = novaphy::sqrt(novaphy::max(1.0f - a.value * a.value, 0.0f));
  return {novaphy::acos(a.value), root > 0.0f ? -a.slope / root : 0.0f};
}
inline Dual atan2(Dual y, Dual x) {
  const float squared = x.value * x.value + y.value * y.value;
  const float across = y.slope * x.value - x.slope * y.value;
  return {novaphy::atan2(y.value, x.value), squared > 0.0f ? across / squared : 0.0f};
}
// clang-format on

}  // namespace novaphy::semi_implicit
