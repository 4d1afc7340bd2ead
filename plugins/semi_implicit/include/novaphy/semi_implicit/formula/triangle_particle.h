// SPDX-License-Identifier: Apache-2.0
// The contact force between a triangle of particles and another particle, over any scalar, in Newton 1.8's
// order of evaluation. The closest point is that of Ericson, Real-Time Collision Detection, 5.1.5.
#pragma once

#include <array>

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// Barycentric coordinates of the point of the triangle a, b, c that is closest to p.
template <class T>
Vec3T<T> closest_on_triangle(const Vec3T<T>& a, const Vec3T<T>& b, const Vec3T<T>& c, const Vec3T<T>& p) {
  const T zero = T(0.0f), one = T(1.0f);
  const Vec3T<T> ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const T d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
          d6 = dot(ac, cp);
  const T va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;

  const T scale = one / ((va + vb) + vc);
  const T v = vb * scale, w = vc * scale;
  const T along_bc = (d4 - d3) / ((d4 - d3) + (d5 - d6)), along_ac = d2 / (d2 - d6),
          along_ab = d1 / (d1 - d3);

  // the regions in the order in which they are asked for: the first that holds wins
  Vec3T<T> out{(one - v) - w, v, w};
  out = select(both(va <= zero, both(d4 - d3 >= zero, d5 - d6 >= zero)),
               Vec3T<T>{zero, one - along_bc, along_bc}, out);
  out = select(both(vb <= zero, both(d2 >= zero, d6 <= zero)), Vec3T<T>{one - along_ac, zero, along_ac}, out);
  out = select(both(d6 >= zero, d5 <= d6), Vec3T<T>{zero, zero, one}, out);
  out = select(both(vc <= zero, both(d1 >= zero, d3 <= zero)), Vec3T<T>{one - along_ab, along_ab, zero}, out);
  out = select(both(d3 >= zero, d4 <= d3), Vec3T<T>{zero, one, zero}, out);
  return select(both(d1 <= zero, d2 <= zero), Vec3T<T>{one, zero, zero}, out);
}

/// From the closest point of a triangle to a particle.
template <class T>
struct TriangleApproach {
  Vec3T<T> barycentric, apart;
  T distance;  ///< m
};

/// `x`: the particle, then the corners.
template <class T>
TriangleApproach<T> approach_triangle(const std::array<Vec3T<T>, 4>& x) {
  const Vec3T<T> at = closest_on_triangle(x[1], x[2], x[3], x[0]);
  const Vec3T<T> apart = x[0] - ((x[1] * at.x + x[2] * at.y) + x[3] * at.z);
  return {at, apart, length(apart)};
}

/// Whether a particle of this radius touches. One that lies on the triangle itself has no direction and does
/// not.
template <class T>
auto touches_triangle(const T& distance, const T& radius) {
  return both(distance < radius, negate(distance < T(1e-6f)));
}

/// The forces on the particle and on the corners, N; their sum is 0 up to rounding. `ke` in N/m.
template <class T>
std::array<Vec3T<T>, 4> triangle_contact_forces(const TriangleApproach<T>& approach, const T& radius,
                                                const T& ke) {
  const Vec3T<T> force = (approach.apart / approach.distance) * (ke * (radius - approach.distance));
  const Vec3T<T> back = -force;
  return {force, back * approach.barycentric.x, back * approach.barycentric.y, back * approach.barycentric.z};
}

}  // namespace novaphy::semi_implicit::formula
