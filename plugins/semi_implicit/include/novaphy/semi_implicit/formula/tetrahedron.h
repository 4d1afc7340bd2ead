// SPDX-License-Identifier: Apache-2.0
// The elastic force of a tetrahedron, over any scalar: the stable neo-Hookean law of Newton 1.8 in its order
// of evaluation (Smith, de Goes and Kim, Stable Neo-Hookean Flesh Simulation, 2018, with a rest-stable volume
// term).
//
// Energy density, with the deformation gradient F, I = |F|^2 and J = det F:
//   mu/2 (I - 3) - mu/2 ln((I + 1)/4) + lambda/2 (J - alpha + activation)^2,  alpha = 1 + mu/lambda - mu/(4
//   lambda)
// so that the element is at rest at F = identity. Its moduli at small strain are not the two constants: the
// shear modulus is 0.75 mu, Lame's first parameter lambda - 0.625 mu.
#pragma once

#include <array>

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit::formula {

/// What does not change while rest shape and material stay: the material times the rest volume.
template <class T>
struct TetrahedronRest {
  Mat33T<T> inverse;   ///< inverse rest matrix, 1/m
  T area_scale;        ///< 1 / (6 rest volume), 1/m^3: turns cross products of edges into derivatives of J
  T mu, lambda, damp;  ///< k_mu, k_lambda and k_damp times the rest volume
  T alpha;             ///< J at which the volume term vanishes; 0 where k_lambda is 0
  T has_volume_term;   ///< 1, or 0 where k_lambda is 0
};

/// `material` = (k_mu [Pa], k_lambda [Pa], k_damp). Where k_lambda is exactly 0 there is no volume force,
/// instead of the 0/0 of the ratio k_mu / k_lambda; the derivative with respect to k_lambda is 0 there.
template <class T>
TetrahedronRest<T> prepare_tetrahedron(const Mat33T<T>& inverse, const Vec3T<T>& material) {
  const T mu = material.x, lambda = material.y;
  const T inverse_volume = determinant(inverse) * T(6.0f);
  const T volume = T(1.0f) / inverse_volume;
  const auto none = lambda == T(0.0f);
  const T alpha = (T(1.0f) + mu / lambda) - mu / (T(4.0f) * lambda);
  return {inverse,
          inverse_volume / T(6.0f),
          mu * volume,
          lambda * volume,
          material.z * volume,
          select(none, T(0.0f), alpha),
          select(none, T(0.0f), T(1.0f))};
}

/// The forces [N] that the element takes from its four particles (particle_f -= force), from their positions
/// [m] and velocities [m/s]. `activation` shifts the volume at which the element rests. Damping is not
/// objective: it also slows rigid rotation, and its volume part leaves out the velocity of the first
/// particle, as Newton's does.
template <class T>
std::array<Vec3T<T>, 4> tetrahedron_forces(const std::array<Vec3T<T>, 4>& x, const std::array<Vec3T<T>, 4>& v,
                                           const TetrahedronRest<T>& rest, const T& activation) {
  const Vec3T<T> x10 = x[1] - x[0], x20 = x[2] - x[0], x30 = x[3] - x[0];
  const Mat33T<T> f = from_columns(x10, x20, x30) * rest.inverse;
  const Mat33T<T> rate = from_columns(v[1] - v[0], v[2] - v[0], v[3] - v[0]) * rest.inverse;

  const auto squared = [&](int j) { return dot(column(f, j), column(f, j)); };
  const T invariant = (squared(0) + squared(1)) + squared(2);
  const T shear = T(1.0f) - T(1.0f) / (invariant + T(1.0f));
  const Mat33T<T> stress = f * rest.mu * shear + rate * rest.damp;
  const Mat33T<T> h = stress * transpose(rest.inverse);

  const Vec3T<T> j1 = cross(x20, x30) * rest.area_scale, j2 = cross(x30, x10) * rest.area_scale,
                 j3 = cross(x10, x20) * rest.area_scale;
  const T elastic = ((determinant(f) - rest.alpha) + activation) * rest.lambda;
  const T damping = ((dot(j1, v[1]) + dot(j2, v[2])) + dot(j3, v[3])) * rest.damp;
  const T pressure = select(rest.has_volume_term > T(0.0f), elastic, T(0.0f)) + damping;

  const Vec3T<T> f1 = column(h, 0) + j1 * pressure, f2 = column(h, 1) + j2 * pressure,
                 f3 = column(h, 2) + j3 * pressure;
  return {-((f1 + f2) + f3), f1, f2, f3};
}

}  // namespace novaphy::semi_implicit::formula
