// SPDX-License-Identifier: Apache-2.0
// Mass, centre of mass and inertia of primitive shapes: formulas in double on float sizes, rounded once.
#include "model/mass_properties.hpp"

#include <numbers>

#include "model/rest_shape.hpp"
#include "novaphy/error.hpp"

namespace novaphy {
namespace {

constexpr double kPi = std::numbers::pi;

Mat33f diagonal(double x, double y, double z) {
  return {{{static_cast<float>(x), 0, 0}, {0, static_cast<float>(y), 0}, {0, 0, static_cast<float>(z)}}};
}

/// x and y alike: the axis is local Z.
MassProperties about_z(double mass, double across, double along, const Vec3f& com = {0, 0, 0}) {
  return {mass, com, diagonal(across, across, along)};
}

MassProperties sphere(double density, double r) {
  const double mass = density * (4.0 / 3.0 * kPi * r * r * r);
  const double moment = 2.0 / 5.0 * mass * r * r;
  return about_z(mass, moment, moment);
}

MassProperties box(double density, double hx, double hy, double hz) {
  const double mass = density * (8.0 * hx * hy * hz);
  return {mass,
          {0, 0, 0},
          diagonal(1.0 / 3.0 * mass * (hy * hy + hz * hz), 1.0 / 3.0 * mass * (hx * hx + hz * hz),
                   1.0 / 3.0 * mass * (hx * hx + hy * hy))};
}

MassProperties ellipsoid(double density, double rx, double ry, double rz) {
  const double mass = density * ((4.0 / 3.0) * kPi * rx * ry * rz);
  return {mass,
          {0, 0, 0},
          diagonal((1.0 / 5.0) * mass * (ry * ry + rz * rz), (1.0 / 5.0) * mass * (rx * rx + rz * rz),
                   (1.0 / 5.0) * mass * (rx * rx + ry * ry))};
}

MassProperties capsule(double density, double r, double half_height) {
  const double h = 2.0 * half_height;
  const double caps = density * (4.0 / 3.0) * kPi * r * r * r;
  const double tube = density * kPi * r * r * h;
  const double across =
      tube * (0.25 * r * r + (1.0 / 12.0) * h * h) + caps * (0.4 * r * r + 0.375 * r * h + 0.25 * h * h);
  return about_z(caps + tube, across, (tube * 0.5 + caps * 0.4) * r * r);
}

MassProperties cylinder(double density, double r, double half_height) {
  const double h = 2.0 * half_height;
  const double mass = density * kPi * r * r * h;
  return about_z(mass, 1.0 / 12.0 * mass * (3.0 * r * r + h * h), 0.5 * mass * r * r);
}

/// The centre of mass lies a quarter of the height above the base, that is h/4 below the middle.
MassProperties cone(double density, double r, double half_height) {
  const double h = 2.0 * half_height;
  const double mass = density * kPi * r * r * h / 3.0;
  return about_z(mass, 3.0 / 20 * mass * r * r + 3.0 / 80 * mass * h * h, 3.0 / 10 * mass * r * r,
                 {0, 0, static_cast<float>(-h / 4.0)});
}

MassProperties solid(GeoType type, double a, double b, double c, double density) {
  switch (type) {
    case GeoType::SPHERE:
      return sphere(density, a);
    case GeoType::BOX:
      return box(density, a, b, c);
    case GeoType::ELLIPSOID:
      return ellipsoid(density, a, b, c);
    case GeoType::CAPSULE:
      return capsule(density, a, b);
    case GeoType::CYLINDER:
      return cylinder(density, a, b);
    case GeoType::CONE:
      return cone(density, a, b);
    default:
      return {};
  }
}

}  // namespace

MassProperties solid_mass_properties(GeoType type, const Vec3f& scale, double density) {
  return density > 0 ? solid(type, scale.x, scale.y, scale.z, density) : MassProperties{};
}

MassProperties shell_mass_properties(GeoType type, const Vec3f& scale, double density, double thickness) {
  if (density <= 0 || thickness <= 0 || type == GeoType::PLANE) return {};
  const MassProperties outer = solid(type, scale.x, scale.y, scale.z, density);
  // The straight part of a capsule keeps its length: its wall is the smaller radius alone.
  const double inner_y = type == GeoType::CAPSULE ? scale.y : scale.y - thickness;
  const MassProperties inner = solid(type, scale.x - thickness, inner_y, scale.z - thickness, density);
  const double mass = outer.mass - inner.mass;
  if (type != GeoType::CONE) return {mass, outer.com, outer.inertia - inner.inertia};
  const float z = static_cast<float>((outer.mass * outer.com.z - inner.mass * inner.com.z) / mass);
  const Vec3f com{0, 0, z};
  const Quatf identity{0, 0, 0, 1};
  return {mass, com,
          shifted_inertia(outer.mass, outer.inertia, com - outer.com, identity) -
              shifted_inertia(inner.mass, inner.inertia, com - inner.com, identity)};
}

Mat33f shifted_inertia(double mass, const Mat33f& inertia, const Vec3f& offset, const Quatf& rotation) {
  const Mat33f r = from_columns(rotate(rotation, Vec3f{1, 0, 0}), rotate(rotation, Vec3f{0, 1, 0}),
                                rotate(rotation, Vec3f{0, 0, 1}));
  const float square = dot(offset, offset);
  const float o[3] = {offset.x, offset.y, offset.z};
  Mat33f steiner;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) steiner.m[i][j] = (i == j ? square : 0.0f) - o[i] * o[j];
  return r * inertia * transpose(r) + steiner * static_cast<float>(mass);
}

}  // namespace novaphy
