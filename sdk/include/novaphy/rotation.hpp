// SPDX-License-Identifier: Apache-2.0
// Quaternions from and to axis and angle, rotation vectors, and roll, pitch and yaw, over any scalar.
//
// Values and derivatives are finite everywhere, at no rotation and at the poles of pitch too.
#pragma once

#include "novaphy/elementary.hpp"
#include "novaphy/math.hpp"

namespace novaphy {

/// `axis` of unit length, `angle` in radians.
template <class T> QuatT<T> quat_from_axis_angle(const Vec3T<T>& axis, const T& angle) {
  const T half = angle * T(0.5f), s = sin(half);
  return {axis.x * s, axis.y * s, axis.z * s, cos(half)};
}

/// The rotation about v by |v| radians. At v = 0 the identity, with the derivative v / 2 of its imaginary part.
template <class T> QuatT<T> quat_from_rotation_vector(const Vec3T<T>& v) {
  const T angle = length(v), half = angle * T(0.5f);
  const T s = select(angle > T(0.0f), sin(half) / angle, T(0.5f));
  return {v.x * s, v.y * s, v.z * s, cos(half)};
}

/// The inverse of quat_from_rotation_vector for a unit quaternion, of at most pi radians: q and -q give the same. At
/// the identity zero, with the derivative of twice the imaginary part.
template <class T> Vec3T<T> rotation_vector(const QuatT<T>& q) {
  const T sign = select(q.w < T(0.0f), T(-1.0f), T(1.0f));
  const Vec3T<T> v{q.x * sign, q.y * sign, q.z * sign};
  const T sine = length(v);
  return v * select(sine > T(0.0f), T(2.0f) * atan2(sine, q.w * sign) / sine, T(2.0f));
}

/// Rotations about x, then y, then z of the world, in radians.
template <class T> QuatT<T> quat_from_rpy(const T& roll, const T& pitch, const T& yaw) {
  const T zero(0.0f), one(1.0f);
  const QuatT<T> x = quat_from_axis_angle(Vec3T<T>{one, zero, zero}, roll);
  const QuatT<T> y = quat_from_axis_angle(Vec3T<T>{zero, one, zero}, pitch);
  const QuatT<T> z = quat_from_axis_angle(Vec3T<T>{zero, zero, one}, yaw);
  return z * (y * x);
}

/// Roll, pitch and yaw of a unit quaternion. Where pitch is a right angle, roll and yaw share one turn and the
/// derivative of pitch is 0.
template <class T> Vec3T<T> quat_to_rpy(const QuatT<T>& q) {
  const T two(2.0f), one(1.0f);
  return {atan2(two * (q.w * q.x + q.y * q.z), one - two * (q.x * q.x + q.y * q.y)),
          asin(two * (q.w * q.y - q.z * q.x)),
          atan2(two * (q.w * q.z + q.x * q.y), one - two * (q.y * q.y + q.z * q.z))};
}

}  // namespace novaphy
