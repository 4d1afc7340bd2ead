// SPDX-License-Identifier: Apache-2.0
// Mass, centre of mass and inertia of primitive shapes.
#pragma once

#include "novaphy/math.hpp"
#include "novaphy/types.hpp"

namespace novaphy {

struct MassProperties {
  double mass = 0;     ///< kg
  Vec3f com{0, 0, 0};  ///< in the frame of the shape, m
  Mat33f inertia{};    ///< about the centre of mass, axes of the shape, kg m^2
};

/// `scale` as in Model::shape_scale. A plane and density 0 weigh nothing.
MassProperties solid_mass_properties(GeoType type, const Vec3f& scale, double density);
/// A shell whose outer surface is the shape's and whose wall is `thickness` thick (less than any half
/// extent).
MassProperties shell_mass_properties(GeoType type, const Vec3f& scale, double density, double thickness);

/// Turns by `rotation`, then moves the axis from the centre of mass by `offset` (parallel axes).
Mat33f shifted_inertia(double mass, const Mat33f& inertia, const Vec3f& offset, const Quatf& rotation);

}  // namespace novaphy
