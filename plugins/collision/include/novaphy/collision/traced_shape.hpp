// SPDX-License-Identifier: Apache-2.0
// The distance of a shape whose type is a number of the row, as kernels see it.
#pragma once

#include "novaphy/collision/formula/shape_distance.h"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/types.hpp"

namespace novaphy::collision {

/// Distance and normal of the PLANE, BOX, SPHERE or CAPSULE of size `scale` at the point `x` in its frame.
inline formula::SurfaceDistance<nova::Expr> traced_surface(nova::Int type, const nova::Vec3E& scale,
                                                           const nova::Vec3E& x) {
  formula::SurfaceDistance<nova::Expr> surface = formula::plane_distance(x, scale.x, scale.y);
  const auto where = [&](GeoType other, const formula::SurfaceDistance<nova::Expr>& its) {
    const nova::Mask is_it = type == nova::Int(static_cast<std::int32_t>(other));
    surface = {select(is_it, its.distance, surface.distance), select(is_it, its.normal, surface.normal)};
  };
  where(GeoType::BOX, formula::box_distance(x, scale));
  where(GeoType::SPHERE, formula::sphere_distance(x, scale.x));
  where(GeoType::CAPSULE, formula::capsule_distance(x, scale.x, scale.y));
  return surface;
}

}  // namespace novaphy::collision
