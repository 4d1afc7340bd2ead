// SPDX-License-Identifier: Apache-2.0
// Geometry of elements at rest.
#include "model/rest_shape.hpp"

#include <algorithm>
#include <cmath>

namespace novaphy {
namespace {

using Vec3d = Vec3T<double>;

Vec3d difference(const Vec3f& a, const Vec3f& b) {
  return {double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z};
}

double length_of(const Vec3d& a) {
  return std::sqrt(dot(a, a));
}

Vec3d unit(const Vec3d& a) {
  const double l = length_of(a);
  return l > 0 ? a / l : Vec3d{0, 0, 0};
}

float rounded(double value) {
  return static_cast<float>(value);
}

/// The inverse of the matrix with rows a, b, c, whose determinant is `det`: columns are cross products over
/// det.
Mat33f inverse_of_rows(const Vec3d& a, const Vec3d& b, const Vec3d& c, double det) {
  const Vec3d u = cross(b, c) / det, v = cross(c, a) / det, w = cross(a, b) / det;
  return {{{rounded(u.x), rounded(v.x), rounded(w.x)},
           {rounded(u.y), rounded(v.y), rounded(w.y)},
           {rounded(u.z), rounded(v.z), rounded(w.z)}}};
}

}  // namespace

TriangleRest triangle_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r) {
  const Vec3d qp = difference(q, p), rp = difference(r, p);
  const Vec3d normal = unit(cross(qp, rp));
  const Vec3d e1 = unit(qp), e2 = unit(cross(normal, e1));
  // In the frame (e1, e2) the first edge is (a, 0) and the second is (b, c).
  const double a = dot(e1, qp), b = dot(e1, rp), c = dot(e2, rp);
  const double determinant = a * c;
  TriangleRest rest{};
  rest.area = determinant / 2;
  rest.longest_side = std::max({length_of(qp), length_of(rp), distance(q, r)});
  if (determinant > 0)
    rest.pose = {{{rounded(c / determinant), rounded(-b / determinant)}, {0.0f, rounded(a / determinant)}}};
  return rest;
}

TetrahedronRest tetrahedron_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r, const Vec3f& s) {
  // Edges in float, as the force law has them.
  const Vec3f qp = q - p, rp = r - p, sp = s - p;
  const Vec3d u{qp.x, qp.y, qp.z}, v{rp.x, rp.y, rp.z}, w{sp.x, sp.y, sp.z};
  const double determinant = dot(u, cross(v, w));
  TetrahedronRest rest{};
  rest.volume = determinant / 6;
  rest.longest_side =
      std::max({length_of(u), length_of(v), length_of(w), distance(q, r), distance(q, s), distance(r, s)});
  // The edges are the columns, so the inverse of the rows has to be turned over.
  if (determinant != 0) rest.pose = transpose(inverse_of_rows(u, v, w, determinant));
  return rest;
}

double dihedral_angle(const Vec3f& x1, const Vec3f& x2, const Vec3f& x3, const Vec3f& x4) {
  const Vec3d n1 = unit(cross(difference(x3, x1), difference(x4, x1)));
  const Vec3d n2 = unit(cross(difference(x4, x2), difference(x3, x2)));
  const Vec3d edge = unit(difference(x4, x3));
  return std::atan2(dot(cross(n1, n2), edge), std::clamp(dot(n1, n2), -1.0, 1.0));
}

double distance(const Vec3f& a, const Vec3f& b) {
  return length_of(difference(a, b));
}

std::optional<Mat33f> inverse(const Mat33f& matrix) {
  const auto row_of = [&](int i) { return Vec3d{matrix.m[i][0], matrix.m[i][1], matrix.m[i][2]}; };
  const Vec3d a = row_of(0), b = row_of(1), c = row_of(2);
  const double determinant = dot(a, cross(b, c));
  if (determinant == 0) return std::nullopt;
  return inverse_of_rows(a, b, c, determinant);
}

}  // namespace novaphy
