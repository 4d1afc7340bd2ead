// SPDX-License-Identifier: Apache-2.0
// The force of a bending edge between two triangles, over any scalar, in the order of evaluation of
// Newton 1.8.
//
// Particles 0 and 1 lie opposite of the edge from particle 2 to particle 3. The angle between the two normals
// is driven to its rest angle along fixed directions, scaled by the edge's length. They are not divided by
// the heights of the triangles, so this is no exact gradient of an energy: forces add up to zero, moments do
// so where both triangles are equally high.
#pragma once

#include <array>

#include "novaphy/elementary.hpp"

namespace novaphy::semi_implicit::formula {

/// Stiffness [N/(m rad)], damping [N s/m^3] and rest angle [rad].
template <class T>
struct BendingMaterial {
  T ke, kd, rest_angle;
};

/// Below this length [m] of the edge, or of a normal [m^2], there is no angle: force and derivative are 0.
inline constexpr float kShortestBendingLength = 1e-6f;

/// The forces [N] that the edge takes from its four particles (particle_f -= force), from their positions [m]
/// and velocities [m/s].
template <class T>
std::array<Vec3T<T>, 4> bending_forces(const std::array<Vec3T<T>, 4>& x, const std::array<Vec3T<T>, 4>& v,
                                       const BendingMaterial<T>& bending) {
  const Vec3T<T> n1 = cross(x[2] - x[0], x[3] - x[0]), n2 = cross(x[3] - x[1], x[2] - x[1]), e = x[3] - x[2];
  const T n1_length = length(n1), n2_length = length(n2), e_length = length(e),
          shortest(kShortestBendingLength);
  const auto is_edge = both(both(n1_length >= shortest, n2_length >= shortest), e_length >= shortest);
  const Vec3T<T> n1_hat = n1 / n1_length, n2_hat = n2 / n2_length, e_hat = e / e_length;

  const T angle = atan2(dot(cross(n1_hat, n2_hat), e_hat), dot(n1_hat, n2_hat));
  const std::array<Vec3T<T>, 4> d{-n1_hat * e_length, -n2_hat * e_length,
                                  -n1_hat * dot(x[0] - x[3], e_hat) - n2_hat * dot(x[1] - x[3], e_hat),
                                  -n1_hat * dot(x[2] - x[0], e_hat) - n2_hat * dot(x[2] - x[1], e_hat)};
  const T elastic = bending.ke * (angle - bending.rest_angle);
  const T damping = bending.kd * (((dot(d[0], v[0]) + dot(d[1], v[1])) + dot(d[2], v[2])) + dot(d[3], v[3]));
  const T force = -e_length * (elastic + damping);

  std::array<Vec3T<T>, 4> taken;
  const Vec3T<T> zero{T(0.0f), T(0.0f), T(0.0f)};
  for (std::size_t k = 0; k < 4; ++k) taken[k] = select(is_edge, -(d[k] * force), zero);
  return taken;
}

}  // namespace novaphy::semi_implicit::formula
