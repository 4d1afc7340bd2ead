// SPDX-License-Identifier: Apache-2.0
// The elastic force of a tetrahedron with another stiffness along each axis of its fibre frame, over any
// scalar.
//
// Energy density, with the Green strain E = (F^T F - 1) / 2 seen in the fibre frame:
//   sum over i, j of (k_i + k_j) / 2 * E_ij^2 + lambda / 2 * (trace E)^2
// so that three equal stiffnesses give the isotropic law of St. Venant and Kirchhoff with mu = k, whatever
// the frame. `contraction` is added to E along the first axis: fibres that want to be shorter.
#pragma once

#include <array>

#include "novaphy/math.hpp"

namespace orthotropic {

template <class T>
struct Material {
  novaphy::Vec3T<T> stiffness;  ///< along each axis of the frame, Pa
  T lambda;                     ///< Lame's first parameter, Pa
  novaphy::QuatT<T> frame;      ///< takes the axes of the fibres to those of the rest shape
  T contraction;
};

/// Stress (second Piola-Kirchhoff, Pa) in the fibre frame, from the strain there.
template <class T>
novaphy::Mat33T<T> stress(const novaphy::Mat33T<T>& strain, const Material<T>& m) {
  const T k[3] = {m.stiffness.x, m.stiffness.y, m.stiffness.z};
  const T pressure = m.lambda * (strain.m[0][0] + strain.m[1][1] + strain.m[2][2]);
  novaphy::Mat33T<T> out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      out.m[i][j] = (k[i] + k[j]) * strain.m[i][j];
      if (i == j) out.m[i][j] = out.m[i][j] + pressure;
    }
  return out;
}

/// The forces [N] on the four particles at x [m]; `inverse` is the inverse rest matrix, 1/m.
template <class T>
std::array<novaphy::Vec3T<T>, 4> forces(const std::array<novaphy::Vec3T<T>, 4>& x,
                                        const novaphy::Mat33T<T>& inverse, const Material<T>& m) {
  using Vec3 = novaphy::Vec3T<T>;
  using Mat33 = novaphy::Mat33T<T>;
  const T zero(0.0f), one(1.0f), half(0.5f);
  const Vec3 ex{one, zero, zero}, ey{zero, one, zero}, ez{zero, zero, one};
  const Mat33 axes = from_columns(rotate(m.frame, ex), rotate(m.frame, ey), rotate(m.frame, ez));
  const Mat33 to_fibres = inverse * axes;
  const Mat33 f = from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * to_fibres;
  Mat33 strain = (transpose(f) * f - from_columns(ex, ey, ez)) * half;
  strain.m[0][0] = strain.m[0][0] + m.contraction;
  const T volume = one / (determinant(inverse) * T(6.0f));
  const Mat33 h = f * stress(strain, m) * transpose(to_fibres) * -volume;
  const Vec3 f1 = column(h, 0), f2 = column(h, 1), f3 = column(h, 2);
  return {-((f1 + f2) + f3), f1, f2, f3};
}

}  // namespace orthotropic
