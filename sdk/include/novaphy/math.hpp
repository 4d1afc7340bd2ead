// SPDX-License-Identifier: Apache-2.0
// Vectors, matrices, quaternions and transforms over any scalar: `float` for the engine, Nova's traced scalar for
// kernels. A formula written with these gives the same roundings in both.
//
// Conventions: quaternions are x, y, z, w; a transform maps p to rotate(q, p) + t; matrices are row-major.
// Evaluation orders are those of Newton 1.8 / Warp 1.19 on the CPU, so that trajectories agree bit for bit:
// sums run left to right and nothing is contracted except matrix products, which are chains of fma.
#pragma once

#include <cmath>
#include <type_traits>

namespace novaphy {

/// A scalar beside a vector or matrix: whatever converts to T, such as a literal beside a traced vector.
template <class T> using Scalar = std::type_identity_t<T>;

// Scalar operations that formulas use on both kinds of scalar. A formula never branches on a value: it selects.
inline float select(bool condition, float a, float b) { return condition ? a : b; }
// As C fmin and fmax for NaN; of two zeros the second, whatever the compiler and its flags (fmin leaves that open).
inline float min(float a, float b) { return a < b || b != b ? a : b; }
inline float max(float a, float b) { return a > b || b != b ? a : b; }
inline float abs(float a) { return std::fabs(a); }
inline float sqrt(float a) { return std::sqrt(a); }
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline float floor(float a) { return std::floor(a); }
inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }
inline bool negate(bool a) { return !a; }

/// a to the power n >= 0 by squaring: 1, a, a * a, (a * a) * a, ..
template <class T> T power(const T& a, int n) {
  if (n == 0) return T(1.0f);
  if (n == 1) return a;
  const T half = power(a, n / 2);
  return n % 2 == 0 ? half * half : half * half * a;
}

template <class T> struct Vec2T { T x, y; };
template <class T> struct Vec3T { T x, y, z; };
template <class T> struct Vec4T { T x, y, z, w; };
/// x, y, z, w with w the real part.
template <class T> struct QuatT { T x, y, z, w; };
template <class T> struct TransformT { Vec3T<T> p; QuatT<T> q; };
template <class T> struct Mat22T { T m[2][2]; };
template <class T> struct Mat33T { T m[3][3]; };
/// (linear, angular): a twist or a wrench in world axes.
template <class T> struct SpatialT { Vec3T<T> linear, angular; };

using Vec2f = Vec2T<float>;
using Vec3f = Vec3T<float>;
using Vec4f = Vec4T<float>;
using Quatf = QuatT<float>;
using Transformf = TransformT<float>;
using Mat22f = Mat22T<float>;
using Mat33f = Mat33T<float>;
using Spatialf = SpatialT<float>;
static_assert(sizeof(Vec3f) == 12 && sizeof(Quatf) == 16 && sizeof(Transformf) == 28 && sizeof(Mat33f) == 36);

template <class T> Vec2T<T> operator+(const Vec2T<T>& a, const Vec2T<T>& b) { return {a.x + b.x, a.y + b.y}; }
template <class T> Vec2T<T> operator-(const Vec2T<T>& a, const Vec2T<T>& b) { return {a.x - b.x, a.y - b.y}; }
template <class T> Vec2T<T> operator-(const Vec2T<T>& a) { return {-a.x, -a.y}; }
template <class T> Vec2T<T> operator*(const Vec2T<T>& a, const Scalar<T>& s) { return {a.x * s, a.y * s}; }
template <class T> Vec2T<T> operator*(const Scalar<T>& s, const Vec2T<T>& a) { return a * s; }
template <class T> Vec2T<T> operator/(const Vec2T<T>& a, const Scalar<T>& s) { return {a.x / s, a.y / s}; }
template <class T> T dot(const Vec2T<T>& a, const Vec2T<T>& b) { return a.x * b.x + a.y * b.y; }
template <class C, class T> Vec2T<T> select(const C& condition, const Vec2T<T>& a, const Vec2T<T>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y)};
}

template <class T> Vec3T<T> operator+(const Vec3T<T>& a, const Vec3T<T>& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T> Vec3T<T> operator-(const Vec3T<T>& a, const Vec3T<T>& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T> Vec3T<T> operator-(const Vec3T<T>& a) { return {-a.x, -a.y, -a.z}; }
template <class T> Vec3T<T> operator*(const Vec3T<T>& a, const Scalar<T>& s) { return {a.x * s, a.y * s, a.z * s}; }
template <class T> Vec3T<T> operator*(const Scalar<T>& s, const Vec3T<T>& a) { return a * s; }
template <class T> Vec3T<T> operator/(const Vec3T<T>& a, const Scalar<T>& s) { return {a.x / s, a.y / s, a.z / s}; }
template <class T> T dot(const Vec3T<T>& a, const Vec3T<T>& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
template <class T> Vec3T<T> cross(const Vec3T<T>& a, const Vec3T<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class C, class T> Vec3T<T> select(const C& condition, const Vec3T<T>& a, const Vec3T<T>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z)};
}

template <class T> Vec4T<T> operator+(const Vec4T<T>& a, const Vec4T<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
template <class T> Vec4T<T> operator-(const Vec4T<T>& a, const Vec4T<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
template <class T> Vec4T<T> operator-(const Vec4T<T>& a) { return {-a.x, -a.y, -a.z, -a.w}; }
template <class T> Vec4T<T> operator*(const Vec4T<T>& a, const Scalar<T>& s) { return {a.x * s, a.y * s, a.z * s, a.w * s}; }
template <class T> Vec4T<T> operator*(const Scalar<T>& s, const Vec4T<T>& a) { return a * s; }
template <class T> Vec4T<T> operator/(const Vec4T<T>& a, const Scalar<T>& s) { return {a.x / s, a.y / s, a.z / s, a.w / s}; }
template <class T> T dot(const Vec4T<T>& a, const Vec4T<T>& b) { return ((a.x * b.x + a.y * b.y) + a.z * b.z) + a.w * b.w; }
template <class C, class T> Vec4T<T> select(const C& condition, const Vec4T<T>& a, const Vec4T<T>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z), select(condition, a.w, b.w)};
}

template <class T> QuatT<T> operator+(const QuatT<T>& a, const QuatT<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
template <class T> QuatT<T> operator-(const QuatT<T>& a, const QuatT<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
template <class T> QuatT<T> operator-(const QuatT<T>& a) { return {-a.x, -a.y, -a.z, -a.w}; }
template <class T> QuatT<T> operator*(const QuatT<T>& a, const Scalar<T>& s) { return {a.x * s, a.y * s, a.z * s, a.w * s}; }
template <class T> QuatT<T> operator*(const Scalar<T>& s, const QuatT<T>& a) { return a * s; }
template <class T> T dot(const QuatT<T>& a, const QuatT<T>& b) { return ((a.x * b.x + a.y * b.y) + a.z * b.z) + a.w * b.w; }

template <class T> SpatialT<T> operator+(const SpatialT<T>& a, const SpatialT<T>& b) {
  return {a.linear + b.linear, a.angular + b.angular};
}
template <class T> SpatialT<T> operator-(const SpatialT<T>& a, const SpatialT<T>& b) {
  return {a.linear - b.linear, a.angular - b.angular};
}
template <class T> SpatialT<T> operator-(const SpatialT<T>& a) { return {-a.linear, -a.angular}; }
template <class T> SpatialT<T> operator*(const SpatialT<T>& a, const Scalar<T>& s) { return {a.linear * s, a.angular * s}; }
template <class T> SpatialT<T> operator*(const Scalar<T>& s, const SpatialT<T>& a) { return a * s; }
/// From left to right over all six numbers.
template <class T> T dot(const SpatialT<T>& a, const SpatialT<T>& b) {
  return ((dot(a.linear, b.linear) + a.angular.x * b.angular.x) + a.angular.y * b.angular.y) + a.angular.z * b.angular.z;
}

template <class T> T length(const Vec2T<T>& a) { return sqrt(dot(a, a)); }
template <class T> T length(const Vec3T<T>& a) { return sqrt(dot(a, a)); }
template <class T> T length(const Vec4T<T>& a) { return sqrt(dot(a, a)); }
template <class T> T length(const QuatT<T>& a) { return sqrt(dot(a, a)); }
template <class T> T length(const SpatialT<T>& a) { return sqrt(dot(a, a)); }

/// a / |a|, and the zero vector where |a| is zero. Each component is divided by the length.
template <class T> Vec2T<T> normalize(const Vec2T<T>& a) {
  const T l = length(a);
  return select(l > T(0.0f), a / l, Vec2T<T>{T(0.0f), T(0.0f)});
}
template <class T> Vec3T<T> normalize(const Vec3T<T>& a) {
  const T l = length(a);
  const Vec3T<T> zero{T(0.0f), T(0.0f), T(0.0f)};
  return select(l > T(0.0f), a / l, zero);
}
template <class T> Vec4T<T> normalize(const Vec4T<T>& a) {
  const T l = length(a);
  return select(l > T(0.0f), a / l, Vec4T<T>{T(0.0f), T(0.0f), T(0.0f), T(0.0f)});
}

/// Rotates v by unit quaternion q.
template <class T> Vec3T<T> rotate(const QuatT<T>& q, const Vec3T<T>& v) {
  const T c = (T(2.0f) * q.w) * q.w - T(1.0f);
  const T d = T(2.0f) * ((q.x * v.x + q.y * v.y) + q.z * v.z);
  return {(v.x * c + q.x * d) + ((q.y * v.z - q.z * v.y) * q.w) * T(2.0f),
          (v.y * c + q.y * d) + ((q.z * v.x - q.x * v.z) * q.w) * T(2.0f),
          (v.z * c + q.z * d) + ((q.x * v.y - q.y * v.x) * q.w) * T(2.0f)};
}
/// Rotates v by the inverse of unit quaternion q.
template <class T> Vec3T<T> rotate_inverse(const QuatT<T>& q, const Vec3T<T>& v) {
  const T c = (T(2.0f) * q.w) * q.w - T(1.0f);
  const T d = T(2.0f) * ((q.x * v.x + q.y * v.y) + q.z * v.z);
  return {(v.x * c + q.x * d) - ((q.y * v.z - q.z * v.y) * q.w) * T(2.0f),
          (v.y * c + q.y * d) - ((q.z * v.x - q.x * v.z) * q.w) * T(2.0f),
          (v.z * c + q.z * d) - ((q.x * v.y - q.y * v.x) * q.w) * T(2.0f)};
}
template <class T> QuatT<T> conjugate(const QuatT<T>& q) { return {-q.x, -q.y, -q.z, q.w}; }
template <class T> QuatT<T> operator*(const QuatT<T>& a, const QuatT<T>& b) {
  return {((a.w * b.x + b.w * a.x) + a.y * b.z) - b.y * a.z, ((a.w * b.y + b.w * a.y) + a.z * b.x) - b.z * a.x,
          ((a.w * b.z + b.w * a.z) + a.x * b.y) - b.x * a.y, ((a.w * b.w - a.x * b.x) - a.y * b.y) - a.z * b.z};
}
/// q / |q| (times the reciprocal, as Newton does); the identity where |q| is zero.
template <class T> QuatT<T> normalize(const QuatT<T>& q) {
  const T l = sqrt(((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w);
  const auto ok = l > T(0.0f);
  const T r = T(1.0f) / l;
  return {select(ok, q.x * r, T(0.0f)), select(ok, q.y * r, T(0.0f)), select(ok, q.z * r, T(0.0f)), select(ok, q.w * r, T(1.0f))};
}

template <class T> Vec3T<T> transform_point(const TransformT<T>& t, const Vec3T<T>& v) { return t.p + rotate(t.q, v); }
template <class T> TransformT<T> inverse(const TransformT<T>& t) {
  const QuatT<T> q = conjugate(t.q);
  return {-rotate(q, t.p), q};
}
template <class T> TransformT<T> operator*(const TransformT<T>& a, const TransformT<T>& b) {
  return {rotate(a.q, b.p) + a.p, a.q * b.q};
}

template <class T> Vec3T<T> column(const Mat33T<T>& a, int j) { return {a.m[0][j], a.m[1][j], a.m[2][j]}; }
template <class T> Vec3T<T> row(const Mat33T<T>& a, int i) { return {a.m[i][0], a.m[i][1], a.m[i][2]}; }
template <class T> Mat33T<T> from_columns(const Vec3T<T>& a, const Vec3T<T>& b, const Vec3T<T>& c) {
  return {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
template <class T> Mat33T<T> transpose(const Mat33T<T>& a) {
  return {{{a.m[0][0], a.m[1][0], a.m[2][0]}, {a.m[0][1], a.m[1][1], a.m[2][1]}, {a.m[0][2], a.m[1][2], a.m[2][2]}}};
}
template <class T> Mat22T<T> transpose(const Mat22T<T>& a) { return {{{a.m[0][0], a.m[1][0]}, {a.m[0][1], a.m[1][1]}}}; }

namespace detail {
/// f(i, j) for every number of an N x N matrix.
template <class M, int N, class F> M matrix(F f) {
  M out;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) out.m[i][j] = f(i, j);
  return out;
}
template <class T, class F> Mat22T<T> mat22(F f) { return matrix<Mat22T<T>, 2>(f); }
template <class T, class F> Mat33T<T> mat33(F f) { return matrix<Mat33T<T>, 3>(f); }
/// Row i of a times column j of b: a chain of fma from zero.
template <int N, class T> T fused_dot(const T (&a)[N][N], const T (&b)[N][N], int i, int j) {
  T s = T(0.0f);
  for (int k = 0; k < N; ++k) s = fma(a[i][k], b[k][j], s);
  return s;
}
}  // namespace detail

// clang-format off
template <class T> Mat22T<T> operator+(const Mat22T<T>& a, const Mat22T<T>& b) {
  return detail::mat22<T>([&](int i, int j) { return a.m[i][j] + b.m[i][j]; });
}
template <class T> Mat33T<T> operator+(const Mat33T<T>& a, const Mat33T<T>& b) {
  return detail::mat33<T>([&](int i, int j) { return a.m[i][j] + b.m[i][j]; });
}
template <class T> Mat22T<T> operator-(const Mat22T<T>& a, const Mat22T<T>& b) {
  return detail::mat22<T>([&](int i, int j) { return a.m[i][j] - b.m[i][j]; });
}
template <class T> Mat33T<T> operator-(const Mat33T<T>& a, const Mat33T<T>& b) {
  return detail::mat33<T>([&](int i, int j) { return a.m[i][j] - b.m[i][j]; });
}
template <class T> Mat22T<T> operator-(const Mat22T<T>& a) { return detail::mat22<T>([&](int i, int j) { return -a.m[i][j]; }); }
template <class T> Mat33T<T> operator-(const Mat33T<T>& a) { return detail::mat33<T>([&](int i, int j) { return -a.m[i][j]; }); }
template <class T> Mat22T<T> operator*(const Mat22T<T>& a, const Scalar<T>& s) {
  return detail::mat22<T>([&](int i, int j) { return a.m[i][j] * s; });
}
template <class T> Mat33T<T> operator*(const Mat33T<T>& a, const Scalar<T>& s) {
  return detail::mat33<T>([&](int i, int j) { return a.m[i][j] * s; });
}
template <class T> Mat22T<T> operator*(const Scalar<T>& s, const Mat22T<T>& a) { return a * s; }
template <class T> Mat33T<T> operator*(const Scalar<T>& s, const Mat33T<T>& a) { return a * s; }

/// Chains of fma from zero over the inner index: the only contraction in the engine.
template <class T> Mat22T<T> operator*(const Mat22T<T>& a, const Mat22T<T>& b) {
  return detail::mat22<T>([&](int i, int j) { return detail::fused_dot(a.m, b.m, i, j); });
}
template <class T> Mat33T<T> operator*(const Mat33T<T>& a, const Mat33T<T>& b) {
  return detail::mat33<T>([&](int i, int j) { return detail::fused_dot(a.m, b.m, i, j); });
}
// clang-format on
/// ((column 0 * x) + column 1 * y) + column 2 * z, without contraction.
template <class T> Vec2T<T> operator*(const Mat22T<T>& a, const Vec2T<T>& v) {
  return {a.m[0][0] * v.x + a.m[0][1] * v.y, a.m[1][0] * v.x + a.m[1][1] * v.y};
}
template <class T> Vec3T<T> operator*(const Mat33T<T>& a, const Vec3T<T>& v) {
  return {(a.m[0][0] * v.x + a.m[0][1] * v.y) + a.m[0][2] * v.z, (a.m[1][0] * v.x + a.m[1][1] * v.y) + a.m[1][2] * v.z,
          (a.m[2][0] * v.x + a.m[2][1] * v.y) + a.m[2][2] * v.z};
}
/// row 0 . (row 1 x row 2)
template <class T> T determinant(const Mat33T<T>& a) { return dot(row(a, 0), cross(row(a, 1), row(a, 2))); }
template <class T> T determinant(const Mat22T<T>& a) { return a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0]; }

/// Cofactors times 1 / determinant, as Newton does; the zero matrix where the determinant is 0 or NaN.
template <class T> Mat22T<T> inverse(const Mat22T<T>& a) {
  const T d = determinant(a), r = T(1.0f) / d;
  const auto ok = either(d > T(0.0f), d < T(0.0f));
  const Mat22T<T> cofactors{{{a.m[1][1], -a.m[0][1]}, {-a.m[1][0], a.m[0][0]}}};
  return detail::mat22<T>([&](int i, int j) { return select(ok, cofactors.m[i][j] * r, T(0.0f)); });
}
template <class T> Mat33T<T> inverse(const Mat33T<T>& a) {
  const T d = determinant(a), r = T(1.0f) / d;
  const auto ok = either(d > T(0.0f), d < T(0.0f));
  // number (i, j): the minor of a without row j and column i, the other rows and columns in cyclic order
  return detail::mat33<T>([&](int i, int j) {
    const int r1 = (j + 1) % 3, r2 = (j + 2) % 3, c1 = (i + 1) % 3, c2 = (i + 2) % 3;
    return select(ok, (a.m[r1][c1] * a.m[r2][c2] - a.m[r1][c2] * a.m[r2][c1]) * r, T(0.0f));
  });
}

}  // namespace novaphy
