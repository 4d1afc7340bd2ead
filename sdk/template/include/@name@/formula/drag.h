// SPDX-License-Identifier: Apache-2.0
// The acceleration of linear drag, over any scalar: float steps a state, a traced scalar gives a kernel.
#pragma once

#include "novaphy/math.hpp"

namespace @name@::formula {

/// What air does to a velocity [m/s]: an acceleration [m/s^2] against it. `drag` in 1/s.
template <class T>
novaphy::Vec3T<T> drag_acceleration(const novaphy::Vec3T<T>& velocity, const T& drag) {
  return velocity * (T(0.0f) - drag);
}

}  // namespace @name@::formula
