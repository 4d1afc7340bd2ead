// SPDX-License-Identifier: Apache-2.0
// The forces of a triangle, over any scalar: membrane, area and air, in the order of evaluation of
// Newton 1.8.
//
// Elastic energy at activation 0, with the 3x2 deformation gradient F, J = area / rest area A:
//   A (ke/2 |F|^2 + ka/2 (J - 1 - ke/ka)^2)
// which is least at F = identity. Where ka is not positive there is no area term, and the triangle contracts.
#pragma once

#include <array>

#include "novaphy/elementary.hpp"

namespace novaphy::semi_implicit::formula {

/// ke, ka [N/m], kd [N s/m], drag and lift [N s^2/m^4], in the order of a row of
/// Model::particle_tri_material.
template <class T>
using TriangleMaterial = std::array<T, 5>;

/// What does not change while rest shape and material stay; stiffness and damping are times the rest area.
template <class T>
struct TriangleRest {
  Mat22T<T> inverse;  ///< inverse rest matrix, 1/m
  T inverse_area;     ///< 1 / rest area, 1/m^2
  T ke, ka, kd, drag, lift;
  T alpha;  ///< J at which the area term vanishes; 0 where there is none
};

template <class T>
TriangleRest<T> prepare_triangle(const Mat22T<T>& inverse, const TriangleMaterial<T>& material) {
  const T inverse_area = determinant(inverse) * T(2.0f);
  const T area = T(1.0f) / inverse_area;
  const T ke = material[0] * area, ka = material[1] * area;
  return {inverse,
          inverse_area,
          ke,
          ka,
          material[2] * area,
          material[3],
          material[4],
          select(ka > T(0.0f), T(1.0f) + ke / ka, T(0.0f))};
}

/// The force of the air on each of the three particles, subtracted from them [N]: drag along the velocity of
/// the triangle, lift along its normal. Its derivative is 0 where velocity and normal are parallel (the ends
/// of acos), where the velocity or the area is 0.
template <class T>
std::array<Vec3T<T>, 2> air_forces(const std::array<Vec3T<T>, 3>& v, const Vec3T<T>& normal, const T& area,
                                   const TriangleRest<T>& rest) {
  const Vec3T<T> mean = ((v[0] + v[1]) + v[2]) * T(0.3333f);
  const T half_pi(1.57079632679489661923f);
  const Vec3T<T> drag = mean * (rest.drag * area * abs(dot(normal, mean)));
  const T attack = half_pi - acos(dot(normal, normalize(mean)));
  return {drag, normal * (rest.lift * area * attack) * dot(mean, mean)};
}

/// The forces [N] that the triangle takes from its three particles (particle_f -= force), from their
/// positions [m] and velocities [m/s]. `activation` shifts the area at which it rests. Where the three lie on
/// one line the normal is 0: there is no area force then, and no derivative through the normal.
template <class T>
std::array<Vec3T<T>, 3> triangle_forces(const std::array<Vec3T<T>, 3>& x, const std::array<Vec3T<T>, 3>& v,
                                        const TriangleRest<T>& rest, const T& activation) {
  const Vec3T<T> x10 = x[1] - x[0], x20 = x[2] - x[0], v10 = v[1] - v[0], v20 = v[2] - v[0];
  const auto& d = rest.inverse.m;
  const Vec3T<T> stress1 =
                     (x10 * d[0][0] + x20 * d[1][0]) * rest.ke + (v10 * d[0][0] + v20 * d[1][0]) * rest.kd,
                 stress2 =
                     (x10 * d[0][1] + x20 * d[1][1]) * rest.ke + (v10 * d[0][1] + v20 * d[1][1]) * rest.kd;
  Vec3T<T> f1 = stress1 * d[0][0] + stress2 * d[0][1], f2 = stress1 * d[1][0] + stress2 * d[1][1];

  const Vec3T<T> across = cross(x10, x20);
  const T area = length(across) * T(0.5f);
  const Vec3T<T> normal = normalize(across);
  const Vec3T<T> j1 = cross(x20, normal) * rest.inverse_area * T(0.5f),
                 j2 = cross(normal, x10) * rest.inverse_area * T(0.5f);
  const T elastic = rest.ka * ((area * rest.inverse_area - rest.alpha) + activation);
  const T damping = rest.kd * ((dot(j1, v[1]) + dot(j2, v[2])) - dot(j1 + j2, v[0]));
  const auto has_area_term = rest.ka > T(0.0f);
  f1 = select(has_area_term, f1 + j1 * (elastic + damping), f1);
  f2 = select(has_area_term, f2 + j2 * (elastic + damping), f2);

  const auto [drag, lift] = air_forces(v, normal, area, rest);
  const Vec3T<T> f0 = ((f1 + f2) - drag) - lift;
  return {-f0, (f1 + drag) + lift, (f2 + drag) + lift};
}

}  // namespace novaphy::semi_implicit::formula
