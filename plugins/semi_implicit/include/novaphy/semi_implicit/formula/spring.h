// SPDX-License-Identifier: Apache-2.0
// The force of a damped spring between two particles, over any scalar, in the order of evaluation of
// Newton 1.8.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// Stiffness [N/m], damping [N s/m] and rest length [m].
template <class T>
struct SpringMaterial {
  T ke, kd, rest_length;
};

/// The force [N] that the spring takes from particle i and gives to particle j (f_i -= force, f_j += force).
/// Where both particles lie on one point the spring has no direction: force and derivative are 0 there.
template <class T>
Vec3T<T> spring_force(const Vec3T<T>& x_i, const Vec3T<T>& x_j, const Vec3T<T>& v_i, const Vec3T<T>& v_j,
                      const SpringMaterial<T>& spring) {
  const Vec3T<T> d = x_i - x_j;
  const T l = length(d);
  const Vec3T<T> zero{T(0.0f), T(0.0f), T(0.0f)};
  const Vec3T<T> direction = select(l > T(0.0f), d * (T(1.0f) / l), zero);
  const T elastic = spring.ke * (l - spring.rest_length);
  const T damping = spring.kd * dot(direction, v_i - v_j);
  return direction * (elastic + damping);
}

}  // namespace novaphy::semi_implicit::formula
