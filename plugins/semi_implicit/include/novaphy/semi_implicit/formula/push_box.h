// SPDX-License-Identifier: Apache-2.0
// A box on the ground, pushed along one axis by a sphere whose motion is given, over any scalar.
#pragma once

#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// What the push depends on beside the motion.
template <class T>
struct PushBox {
  T pusher_radius, half_extent;  ///< m
  T mass;                        ///< kg
  T ke, kd;                      ///< of the contact, N/m and N s/m
  T mu;                          ///< friction coefficient of the ground
  T gravity;                     ///< m/s^2
  T smoothing;                   ///< m/s, speed below which friction falls to 0 smoothly
  T dt;                          ///< s
};

/// Position [m] and speed [m/s] along the axis.
template <class T>
struct AxisMotion {
  T x, v;
};

/// The force of the sphere on the box, N: the law of particle-shape contact along the axis
/// (formula/soft_contact.h of plugin collision), against the face that the sphere is in front of.
template <class T>
T push_force(const AxisMotion<T>& box, const AxisMotion<T>& pusher, const PushBox<T>& push) {
  const T zero = T(0.0f);
  const T side = select(pusher.x < box.x, T(-1.0f), T(1.0f));
  const Vec3T<T> normal{side, zero, zero};
  const T gap =
      collision::formula::soft_contact_gap(Vec3T<T>{pusher.x, zero, zero}, push.pusher_radius,
                                           Vec3T<T>{box.x + side * push.half_extent, zero, zero}, normal);
  const auto force = collision::formula::soft_contact_force<T>(
      gap, normal, Vec3T<T>{pusher.v - box.v, zero, zero}, {push.ke, push.kd, zero, zero});
  return select(gap > zero, zero, force.x);
}

/// The box after one step: pushed, then slowed by the ground, then moved. Friction is mu m g against the
/// motion with the Huber length (v^2 / smoothing + smoothing) / 2 for |v| below the smoothing speed; it is
/// taken at the end of the step, so it never turns the motion round, whatever the step.
template <class T>
AxisMotion<T> push_box(const AxisMotion<T>& box, const AxisMotion<T>& pusher, const PushBox<T>& push) {
  const T half = T(0.5f), one = T(1.0f);
  const T pushed = box.v + push_force(box, pusher, push) / push.mass * push.dt;
  const T speed = abs(pushed);
  const T slow = half * (pushed * pushed / push.smoothing + push.smoothing);
  const T length = select(speed < push.smoothing, slow, speed);
  const T v = pushed / (one + push.mu * push.gravity * push.dt / length);
  return {box.x + v * push.dt, v};
}

}  // namespace novaphy::semi_implicit::formula
