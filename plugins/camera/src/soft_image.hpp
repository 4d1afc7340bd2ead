// SPDX-License-Identifier: Apache-2.0
// SoftImage: the operation on the tape that draws a soft picture and differentiates it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "novaphy/camera/camera.hpp"
#include "novaphy/nova/custom.hpp"

namespace novaphy::camera {

/// What is drawn: three corners each for triangles, one for spheres.
struct Primitives {
  std::vector<std::int32_t> corners;  ///< indices into particle_q
  std::vector<float> radius;          ///< m, of each sphere; empty for triangles

  int corners_each() const noexcept { return radius.empty() ? 3 : 1; }
};

enum class Picture { silhouette, depth };

/// Reads particle_q (P, 3), writes (height, width).
std::shared_ptr<const nova::CustomOperation> make_soft_image(const View& view, Primitives primitives,
                                                             Picture picture, float sigma, float background);

}  // namespace novaphy::camera
