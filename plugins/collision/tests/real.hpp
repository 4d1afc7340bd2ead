// SPDX-License-Identifier: Apache-2.0
// A double that formula headers take as their scalar: tests difference the same law without float32's
// rounding.
#pragma once

#include <cmath>

#include "novaphy/math.hpp"

namespace novaphy::test {

struct Real {
  double value = 0.0;
  Real() = default;
  Real(double number) : value(number) {}
};

inline Real operator+(Real a, Real b) {
  return a.value + b.value;
}
inline Real operator-(Real a, Real b) {
  return a.value - b.value;
}
inline Real operator*(Real a, Real b) {
  return a.value * b.value;
}
inline Real operator/(Real a, Real b) {
  return a.value / b.value;
}
inline Real operator-(Real a) {
  return -a.value;
}
inline bool operator<(Real a, Real b) {
  return a.value < b.value;
}
inline bool operator>(Real a, Real b) {
  return a.value > b.value;
}
inline bool operator<=(Real a, Real b) {
  return a.value <= b.value;
}
inline bool operator>=(Real a, Real b) {
  return a.value >= b.value;
}
inline bool operator==(Real a, Real b) {
  return a.value == b.value;
}
inline Real select(bool condition, Real a, Real b) {
  return condition ? a : b;
}
inline Real min(Real a, Real b) {
  return std::fmin(a.value, b.value);
}
inline Real max(Real a, Real b) {
  return std::fmax(a.value, b.value);
}
inline Real abs(Real a) {
  return std::fabs(a.value);
}
inline Real sqrt(Real a) {
  return std::sqrt(a.value);
}

using Vec3r = Vec3T<Real>;
inline Vec3r real(const Vec3f& v) {
  return {double{v.x}, double{v.y}, double{v.z}};
}
inline TransformT<Real> real(const Transformf& t) {
  return {real(t.p), {double{t.q.x}, double{t.q.y}, double{t.q.z}, double{t.q.w}}};
}

}  // namespace novaphy::test
