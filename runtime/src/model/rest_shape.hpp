// SPDX-License-Identifier: Apache-2.0
// Geometry of elements at rest.
//
// T says where Newton rounds on the way: it measures cloth grids in double, everything else in float. We
// follow, so that rest matrices agree in the last bit. Matrices are inverted in double and rounded once.
#pragma once

#include <optional>

#include "novaphy/math.hpp"

namespace novaphy {

struct TriangleRest {
  Mat22f pose;          ///< inverse of the edges in the triangle's own frame, 1/m
  double area;          ///< m^2
  double longest_side;  ///< m
};
template <class T>
TriangleRest triangle_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r);

struct TetrahedronRest {
  Mat33f pose;          ///< inverse of the edges as columns, 1/m
  double volume;        ///< m^3, negative when inverted
  double longest_side;  ///< m
};
TetrahedronRest tetrahedron_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r, const Vec3f& s);

/// Angle between triangles (x1, x3, x4) and (x2, x4, x3), rad.
template <class T>
double dihedral_angle(const Vec3f& x1, const Vec3f& x2, const Vec3f& x3, const Vec3f& x4);

template <class T>
T distance(const Vec3f& a, const Vec3f& b);

/// The inverse, empty when there is none.
std::optional<Mat33f> inverse(const Mat33f& matrix);

}  // namespace novaphy
