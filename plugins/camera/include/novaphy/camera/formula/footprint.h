// SPDX-License-Identifier: Apache-2.0
// What one triangle or one sphere does to one pixel: how much it covers it and how far it lies, with
// derivatives.
//
// Cover of triangles: Liu, Li, Chen, Li, "Soft Rasterizer", ICCV 2019, equation 1: sigmoid(s d^2 / sigma),
// where d is the distance from the pixel's centre to the triangle's edge and s is +1 inside, -1 outside.
#pragma once

#include <cmath>

namespace novaphy::camera::formula {

/// A point of the picture: u to the right and v down from the upper left corner [px], z along the view [m].
template <class T>
struct Corner {
  T u, v, z;
};

/// cover = sigmoid(x), depth z [m], and the derivatives of x and z by the N corners.
template <class T, int N>
struct Footprint {
  T x, z;
  Corner<T> by_x[N], by_z[N];
};

/// The nearest point of segment ab to a pixel: a + t (b - a); r leads from there to the pixel.
template <class T>
struct NearestPoint {
  T t, ru, rv, squared, length_squared;
};

/// An edge shorter than a millionth of a pixel counts as its first point: t = 0.
template <class T>
NearestPoint<T> nearest_on_segment(const Corner<T>& a, const Corner<T>& b, T pu, T pv) {
  const T eu = b.u - a.u, ev = b.v - a.v, du = pu - a.u, dv = pv - a.v;
  const T length_squared = eu * eu + ev * ev;
  T t = length_squared > T(1e-12f) ? (du * eu + dv * ev) / length_squared : T(0.0f);
  t = t < T(0.0f) ? T(0.0f) : t > T(1.0f) ? T(1.0f) : t;
  const T ru = du - t * eu, rv = dv - t * ev;
  return {t, ru, rv, ru * ru + rv * rv, length_squared};
}

/// Depth outside: that of the nearest point of the edge, perspectively correct (1/z is linear in the
/// picture). Where t is clamped it stays, and the corner's own depth is the only one that counts.
template <class T>
void depth_on_edge(const Corner<T>& a, const Corner<T>& b, const NearestPoint<T>& at, int i, int j,
                   Footprint<T, 3>& out) {
  const T qa = T(1.0f) / a.z, qb = T(1.0f) / b.z;
  out.z = T(1.0f) / ((T(1.0f) - at.t) * qa + at.t * qb);
  const T zz = out.z * out.z;
  out.by_z[i].z = zz * qa * qa * (T(1.0f) - at.t);
  out.by_z[j].z = zz * qb * qb * at.t;
  if (!(at.t > T(0.0f) && at.t < T(1.0f))) return;
  const T eu = b.u - a.u, ev = b.v - a.v, slope = -zz * (qb - qa) / at.length_squared;
  out.by_z[i].u = -slope * ((T(1.0f) - at.t) * eu + at.ru),
  out.by_z[i].v = -slope * ((T(1.0f) - at.t) * ev + at.rv);
  out.by_z[j].u = slope * (at.ru - at.t * eu), out.by_z[j].v = slope * (at.rv - at.t * ev);
}

/// Depth inside: 1/z is the plane through the corners' 1/z. Moving corner k by m changes it at a pixel of
/// barycentric weight w[k] by -w[k] (slope of the plane) . m.
template <class T>
void depth_inside(const Corner<T> (&c)[3], const T (&cross)[3], T doubled_area, Footprint<T, 3>& out) {
  T weight[3], inverse[3], slope_u = T(0.0f), slope_v = T(0.0f), sum = T(0.0f);
  for (int k = 0; k < 3; ++k) {
    const Corner<T>&a = c[(k + 1) % 3], &b = c[(k + 2) % 3];
    weight[k] = cross[(k + 1) % 3] / doubled_area;
    inverse[k] = T(1.0f) / c[k].z;
    sum = sum + weight[k] * inverse[k];
    slope_u = slope_u - inverse[k] * (b.v - a.v) / doubled_area;
    slope_v = slope_v + inverse[k] * (b.u - a.u) / doubled_area;
  }
  out.z = T(1.0f) / sum;
  const T zz = out.z * out.z;
  for (int k = 0; k < 3; ++k)
    out.by_z[k] = {zz * weight[k] * slope_u, zz * weight[k] * slope_v,
                   zz * weight[k] * inverse[k] * inverse[k]};
}

/// A triangle, seen from either side. One whose image is smaller than 1e-6 px^2 is seen edge-on and has no
/// inside: its cover is at most 1/2. At equal distances from two edges the earlier edge counts (the
/// derivative has a kink there). sigma [px^2].
template <class T>
Footprint<T, 3> triangle_footprint(const Corner<T> (&c)[3], T pu, T pv, T sigma) {
  NearestPoint<T> nearest{};
  int edge = 0;
  T cross[3];
  for (int k = 0; k < 3; ++k) {
    const Corner<T>&a = c[k], &b = c[(k + 1) % 3];
    cross[k] = (b.u - a.u) * (pv - a.v) - (b.v - a.v) * (pu - a.u);
    const NearestPoint<T> at = nearest_on_segment(a, b, pu, pv);
    if (k == 0 || at.squared < nearest.squared) nearest = at, edge = k;
  }
  const T doubled_area = (c[1].u - c[0].u) * (c[2].v - c[0].v) - (c[1].v - c[0].v) * (c[2].u - c[0].u);
  const bool left = cross[0] > T(0.0f) && cross[1] > T(0.0f) && cross[2] > T(0.0f);
  const bool right = cross[0] < T(0.0f) && cross[1] < T(0.0f) && cross[2] < T(0.0f);
  const bool inside = (left && doubled_area > T(2e-6f)) || (right && doubled_area < T(-2e-6f));
  Footprint<T, 3> out{};
  out.x = (inside ? nearest.squared : -nearest.squared) / sigma;
  const int i = edge, j = (edge + 1) % 3;
  const T scale = (inside ? T(-2.0f) : T(2.0f)) / sigma;  // the nearest point stays nearest to first order
  out.by_x[i].u = scale * (T(1.0f) - nearest.t) * nearest.ru,
  out.by_x[i].v = scale * (T(1.0f) - nearest.t) * nearest.rv;
  out.by_x[j].u = scale * nearest.t * nearest.ru, out.by_x[j].v = scale * nearest.t * nearest.rv;
  if (inside)
    depth_inside(c, cross, doubled_area, out);
  else
    depth_on_edge(c[i], c[j], nearest, i, j, out);
  return out;
}

/// Radius [px] of a sphere's image: `focal` [px] times radius over depth.
template <class T>
T disc_radius(const Corner<T>& centre, T focal, T radius) {
  return focal * radius / centre.z;
}

/// A sphere of `radius` [m], drawn as a disc with the same law of its edge as a triangle's. Its front is a
/// paraboloid, within radius / 4 of the sphere, so that slopes stay finite at the rim. In the very centre the
/// distance to the rim has a kink; its derivative by u and v is 0 there.
template <class T>
Footprint<T, 1> sphere_footprint(const Corner<T>& c, T focal, T radius, T pu, T pv, T sigma) {
  const T rim = disc_radius(c, focal, radius), du = pu - c.u, dv = pv - c.v;
  const T distance = std::sqrt(du * du + dv * dv), s = rim - distance;
  const T size = s < T(0.0f) ? -s : s, by_s = T(2.0f) * size / sigma;
  Footprint<T, 1> out{};
  out.x = s * size / sigma;
  const T along = distance > T(0.0f) ? by_s / distance : T(0.0f);
  out.by_x[0] = {along * du, along * dv, -by_s * rim / c.z};
  const T rim_squared = rim * rim, outward = (du * du + dv * dv) / rim_squared;
  if (!(outward < T(1.0f))) {
    out.z = c.z, out.by_z[0].z = T(1.0f);
    return out;
  }
  out.z = c.z - radius * (T(1.0f) - outward);
  const T bulge = T(-2.0f) * radius / rim_squared;
  out.by_z[0] = {bulge * du, bulge * dv, T(1.0f) + T(2.0f) * radius * outward / c.z};
  return out;
}

}  // namespace novaphy::camera::formula
