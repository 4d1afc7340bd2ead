// SPDX-License-Identifier: Apache-2.0
// The drag of moving air on a sphere, over any scalar.
#pragma once

#include "novaphy/math.hpp"

namespace wind {

/// The force [N] on a sphere of `radius` [m] that moves with `velocity` [m/s] through air of `density` [kg/m^3] that
/// moves with `air` [m/s]: density / 2 * drag * pi * radius^2 * |u| * u with u = air - velocity.
template <class T>
novaphy::Vec3T<T> drag_force(const novaphy::Vec3T<T>& velocity, const T& radius, const novaphy::Vec3T<T>& air,
                             const T& density, const T& drag) {
  const novaphy::Vec3T<T> u = air - velocity;
  const T area = radius * radius * T(3.14159265f);
  return u * (density * T(0.5f) * drag * area * length(u));
}

}  // namespace wind
