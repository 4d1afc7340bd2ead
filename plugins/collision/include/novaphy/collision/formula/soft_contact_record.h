// SPDX-License-Identifier: Apache-2.0
// From the distance in a shape's frame to the contact record, over any scalar.
#pragma once

#include "novaphy/collision/formula/shape_distance.h"
#include "novaphy/math.hpp"

namespace novaphy::collision::formula {

/// Contact point in the frame of the shape's body (world axes if static) and unit normal in world axes.
template <class T>
struct ContactGeometry {
  Vec3T<T> point, normal;
};

/// `local`: the particle in the shape's frame; `shape_in_body`: pose of the shape in its body, or in the
/// world if it has none; `rotation`: orientation of the shape in the world.
template <class T>
ContactGeometry<T> contact_geometry(const Vec3T<T>& local, const SurfaceDistance<T>& surface,
                                    const TransformT<T>& shape_in_body, const QuatT<T>& rotation) {
  return {transform_point(shape_in_body, local - surface.normal * surface.distance),
          rotate(rotation, surface.normal)};
}

/// Whether a particle at this distance gets a record. Lengths in m.
template <class T>
auto within_reach(const T& distance, const T& margin, const T& shape_margin, const T& radius) {
  return distance < (margin + shape_margin) + radius;
}

}  // namespace novaphy::collision::formula
