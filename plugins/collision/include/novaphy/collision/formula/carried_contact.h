// SPDX-License-Identifier: Apache-2.0
// Where a contact point on a body is now and how fast it moves, over any scalar.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::collision::formula {

/// A point of a body in world axes: position [m] and velocity [m/s].
template <class T>
struct MovingPoint {
  Vec3T<T> point, velocity;
};

/// `point` [m] and `velocity` [m/s] are in the frame of the body, as a contact record holds them; `twist` is
/// the body's, whose linear part is the velocity of the centre of mass `com` [m, body frame].
template <class T>
MovingPoint<T> carried_contact(const TransformT<T>& body, const SpatialT<T>& twist, const Vec3T<T>& com,
                               const Vec3T<T>& point, const Vec3T<T>& velocity) {
  const Vec3T<T> at = transform_point(body, point);
  const Vec3T<T> arm = at - transform_point(body, com);
  return {at, (twist.linear + rotate(body.q, velocity)) + cross(twist.angular, arm)};
}

}  // namespace novaphy::collision::formula
