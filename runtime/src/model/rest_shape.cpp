// SPDX-License-Identifier: Apache-2.0
// Geometry of elements at rest.
#include "model/rest_shape.hpp"

#include <algorithm>
#include <cmath>

namespace novaphy {
namespace {

using Vec3d = Vec3T<double>;

template <class T>
Vec3T<T> difference(const Vec3f& a, const Vec3f& b) {
  return {static_cast<T>(a.x) - b.x, static_cast<T>(a.y) - b.y, static_cast<T>(a.z) - b.z};
}

template <class T>
T length_of(const Vec3T<T>& a) {
  return std::sqrt(dot(a, a));
}

template <class T>
Vec3T<T> unit(const Vec3T<T>& a) {
  const T l = length_of(a);
  return l > 0 ? a / l : a;
}

/// As a matrix product has it: a chain of fma.
template <class T>
T fused_dot(const Vec3T<T>& a, const Vec3T<T>& b) {
  return std::fma(a.z, b.z, std::fma(a.y, b.y, a.x * b.x));
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

template <class T>
TriangleRest triangle_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r) {
  const Vec3T<T> qp = difference<T>(q, p), rp = difference<T>(r, p);
  const Vec3T<T> normal = unit(cross(qp, rp));
  const Vec3T<T> e1 = unit(qp), e2 = unit(cross(normal, e1));
  const double a = fused_dot(e1, qp), b = fused_dot(e1, rp), c = fused_dot(e2, qp), d = fused_dot(e2, rp);
  const double determinant = a * d - b * c;
  TriangleRest rest{};
  rest.area = static_cast<T>(static_cast<T>(determinant) / T(2));
  rest.longest_side = std::max({length_of(qp), length_of(rp), distance<T>(q, r)});
  if (determinant > 0)
    rest.pose = {{{rounded(d / determinant), rounded(-b / determinant)},
                  {rounded(-c / determinant), rounded(a / determinant)}}};
  return rest;
}
template TriangleRest triangle_rest<float>(const Vec3f&, const Vec3f&, const Vec3f&);
template TriangleRest triangle_rest<double>(const Vec3f&, const Vec3f&, const Vec3f&);

TetrahedronRest tetrahedron_rest(const Vec3f& p, const Vec3f& q, const Vec3f& r, const Vec3f& s) {
  // Edges in float, as the force law has them.
  const Vec3f qp = q - p, rp = r - p, sp = s - p;
  const Vec3d u{qp.x, qp.y, qp.z}, v{rp.x, rp.y, rp.z}, w{sp.x, sp.y, sp.z};
  const double determinant = dot(u, cross(v, w));
  TetrahedronRest rest{};
  rest.volume = determinant / 6;
  rest.longest_side = std::max({length_of(u), length_of(v), length_of(w), distance<double>(q, r),
                                distance<double>(q, s), distance<double>(r, s)});
  // The edges are the columns, so the inverse of the rows has to be turned over.
  if (determinant != 0) rest.pose = transpose(inverse_of_rows(u, v, w, determinant));
  return rest;
}

template <class T>
double dihedral_angle(const Vec3f& x1, const Vec3f& x2, const Vec3f& x3, const Vec3f& x4) {
  const Vec3T<T> n1 = unit(cross(difference<T>(x3, x1), difference<T>(x4, x1)));
  const Vec3T<T> n2 = unit(cross(difference<T>(x4, x2), difference<T>(x3, x2)));
  const Vec3T<T> edge = unit(difference<T>(x4, x3));
  return std::atan2(double{dot(cross(n1, n2), edge)}, double{std::clamp(dot(n1, n2), T(-1), T(1))});
}
template double dihedral_angle<float>(const Vec3f&, const Vec3f&, const Vec3f&, const Vec3f&);
template double dihedral_angle<double>(const Vec3f&, const Vec3f&, const Vec3f&, const Vec3f&);

template <class T>
T distance(const Vec3f& a, const Vec3f& b) {
  return length_of(difference<T>(a, b));
}
template float distance<float>(const Vec3f&, const Vec3f&);
template double distance<double>(const Vec3f&, const Vec3f&);

std::optional<Mat33f> inverse(const Mat33f& matrix) {
  const auto row_of = [&](int i) { return Vec3d{matrix.m[i][0], matrix.m[i][1], matrix.m[i][2]}; };
  const Vec3d a = row_of(0), b = row_of(1), c = row_of(2);
  const double determinant = dot(a, cross(b, c));
  if (determinant == 0) return std::nullopt;
  return inverse_of_rows(a, b, c, determinant);
}

}  // namespace novaphy
