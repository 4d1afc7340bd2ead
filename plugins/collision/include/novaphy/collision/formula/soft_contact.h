// SPDX-License-Identifier: Apache-2.0
// The particle-shape contact force, over any scalar: the forward solver, the traced kernels and their
// adjoints share it.
#pragma once

#include "novaphy/math.hpp"

namespace novaphy::collision::formula {

/// Stiffness [N/m], damping [N s/m], friction damping [N s/m] and friction coefficient of a contact.
template <class T>
struct SoftContactMaterial {
  T ke, kd, kf, mu;
};

/// Material of a contact: the arithmetic mean of the model's and the shape's, as in Newton.
template <class T>
SoftContactMaterial<T> mix(const SoftContactMaterial<T>& model, const SoftContactMaterial<T>& shape) {
  const T half = T(0.5f);
  return {half * (model.ke + shape.ke), half * (model.kd + shape.kd), half * (model.kf + shape.kf),
          half * (model.mu + shape.mu)};
}

/// Distance of the particle's surface from the tangent plane at `point`, m; negative when they overlap.
template <class T>
T soft_contact_gap(const Vec3T<T>& x, T radius, const Vec3T<T>& point, const Vec3T<T>& normal) {
  return dot(normal, x - point) - radius;
}

/// The force that the contact takes from the particle (particle_f -= force), N. `gap` must not be positive,
/// `v` is the velocity of the particle relative to the shape's surface. Damping acts on approach only;
/// friction is capped by the elastic normal force alone.
template <class T>
Vec3T<T> soft_contact_force(T gap, const Vec3T<T>& normal, const Vec3T<T>& v,
                            const SoftContactMaterial<T>& material) {
  const T v_normal = dot(normal, v);
  const Vec3T<T> v_tangent = v - normal * v_normal;
  const Vec3T<T> elastic = normal * gap * material.ke;
  const Vec3T<T> damping = normal * min(v_normal, T(0.0f)) * material.kd;
  const T slip = length(v_tangent);
  const Vec3T<T> friction =
      normalize(v_tangent) * min(material.kf * slip, abs(material.mu * gap * material.ke));
  return elastic + (damping + friction);
}

}  // namespace novaphy::collision::formula
