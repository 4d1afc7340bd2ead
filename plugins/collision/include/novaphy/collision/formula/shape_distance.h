// SPDX-License-Identifier: Apache-2.0
// Signed distance and outward normal of the primitive shapes in their own frame, over any scalar.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::collision::formula {

/// Distance of a point from a surface, m (negative inside), and the outward unit normal there.
template <class T>
struct SurfaceDistance {
  T distance;
  Vec3T<T> normal;
};

/// Direction of `a`, or `fallback` where `a` is shorter than 1e-8 m.
template <class T>
Vec3T<T> direction_or(const Vec3T<T>& a, const T& length_of_a, const Vec3T<T>& fallback) {
  return select(length_of_a > T(1e-8f), a / length_of_a, fallback);
}

/// The plane z = 0. Width and length both positive: a sheet of that size, whose distance is unsigned, so it
/// never repels from below; otherwise a half space.
template <class T>
SurfaceDistance<T> plane_distance(const Vec3T<T>& x, const T& width, const T& length) {
  const T zero = T(0.0f), half = T(0.5f);
  const T beside = max(abs(x.x) - width * half, abs(x.y) - length * half);
  const auto finite = both(width > zero, length > zero);
  return {select(finite, max(beside, abs(x.z)), x.z), {zero, zero, T(1.0f)}};
}

/// A box with half extents `half`, about the origin. Inside, the normal is that of the nearest face.
template <class T>
SurfaceDistance<T> box_distance(const Vec3T<T>& x, const Vec3T<T>& half) {
  const T zero = T(0.0f), one = T(1.0f);
  const Vec3T<T> q{abs(x.x) - half.x, abs(x.y) - half.y, abs(x.z) - half.z};
  const Vec3T<T> beyond{max(q.x, zero), max(q.y, zero), max(q.z, zero)};
  const T distance = length(beyond) + min(max(q.x, max(q.y, q.z)), zero);

  const Vec3T<T> nearest{min(max(-half.x, x.x), half.x), min(max(-half.y, x.y), half.y),
                         min(max(-half.z, x.z), half.z)};
  const Vec3T<T> outward = normalize(x - nearest);

  const Vec3T<T> face_x{select(x.x < zero, -one, one), zero, zero};
  const Vec3T<T> face_y{zero, select(x.y < zero, -one, one), zero};
  const Vec3T<T> face_z{zero, zero, select(x.z < zero, -one, one)};
  const auto take_x = either(both(q.x > q.y, q.x > q.z), both(q.y == zero, q.z == zero));
  const auto take_y = either(both(q.y > q.x, q.y > q.z), both(q.x == zero, q.z == zero));
  const Vec3T<T> inward = select(take_x, face_x, select(take_y, face_y, face_z));

  const auto outside = either(q.x > zero, either(q.y > zero, q.z > zero));
  return {distance, select(outside, outward, inward)};
}

/// A sphere about the origin.
template <class T>
SurfaceDistance<T> sphere_distance(const Vec3T<T>& x, const T& radius) {
  const T from_centre = length(x);
  const Vec3T<T> up{T(0.0f), T(0.0f), T(1.0f)};
  return {from_centre - radius, direction_or(x, from_centre, up)};
}

/// A capsule along z about the origin: the points within `radius` of the segment from -half_height to
/// half_height.
template <class T>
SurfaceDistance<T> capsule_distance(const Vec3T<T>& x, const T& radius, const T& half_height) {
  const T zero = T(0.0f), one = T(1.0f);
  const auto above = x.z > half_height;
  const auto below = x.z < -half_height;
  const Vec3T<T> from_segment{x.x, x.y,
                              select(above, x.z - half_height, select(below, x.z + half_height, zero))};
  const T from_axis = length(from_segment);
  const Vec3T<T> along_axis{zero, zero, select(below, -one, one)};
  return {from_axis - radius, direction_or(from_segment, from_axis, along_axis)};
}

}  // namespace novaphy::collision::formula
