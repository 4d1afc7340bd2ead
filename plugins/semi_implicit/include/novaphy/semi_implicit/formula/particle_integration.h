// SPDX-License-Identifier: Apache-2.0
// One semi-implicit Euler step of a particle, over any scalar.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// Position [m] and velocity [m/s].
template <class T>
struct ParticleMotion {
  Vec3T<T> q, qd;
};

/// The new velocity comes from the force [N] at the old position, the new position from the new velocity. A
/// particle of inverse mass 0 feels neither force nor gravity. Speeds are capped at `max_velocity`.
template <class T>
ParticleMotion<T> integrate_particle(const ParticleMotion<T>& now, const Vec3T<T>& force, const T& inv_mass,
                                     const Vec3T<T>& gravity, const T& max_velocity, const T& dt) {
  const T falls = select(inv_mass > T(0.0f), T(1.0f), T(0.0f));
  const Vec3T<T> free = now.qd + (force * inv_mass + gravity * falls) * dt;
  const T speed = length(free);
  const Vec3T<T> qd = select(speed > max_velocity, free * (max_velocity / speed), free);
  return {now.q + qd * dt, qd};
}

}  // namespace novaphy::semi_implicit::formula
