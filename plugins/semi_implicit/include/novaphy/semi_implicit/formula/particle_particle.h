// SPDX-License-Identifier: Apache-2.0
// The contact force between two particles, over any scalar, in Newton 1.8's order of evaluation.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// Stiffness [N/m], damping [N s/m], friction damping [N s/m] and friction coefficient of particles among
/// each other.
template <class T>
struct ParticleContactMaterial {
  T ke, kd, kf, mu;
};

/// Distance of the surfaces of two particles of radii `a` and `b`, m; negative when they overlap. `apart` is
/// the first position less the second.
template <class T>
T particle_gap(const Vec3T<T>& apart, const T& a, const T& b) {
  return (length(apart) - a) - b;
}

/// The force on the first particle, N; the second gets its opposite. `v` is the velocity of the first
/// relative to the second. Damping acts on approach only; friction is capped by the whole normal force.
/// Particles at one place have no direction: only friction acts there.
template <class T>
Vec3T<T> particle_contact_force(const Vec3T<T>& apart, const Vec3T<T>& v, const T& gap,
                                const ParticleContactMaterial<T>& material) {
  const Vec3T<T> normal = normalize(apart);
  const T v_normal = dot(normal, v);
  const T pressing = gap * material.ke + min(v_normal, T(0.0f)) * material.kd;
  const Vec3T<T> v_tangent = v - normal * v_normal;
  const T friction = min(length(v_tangent) * material.kf, material.mu * abs(pressing));
  return -normal * pressing - normalize(v_tangent) * friction;
}

}  // namespace novaphy::semi_implicit::formula
