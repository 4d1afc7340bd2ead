// SPDX-License-Identifier: Apache-2.0
// Losses over particle arrays, and projections. Recorded on this thread's open tape.
#pragma once

#include <cstdint>

#include "novaphy/export.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// |particle_q[particle_index] - target|^2, shape (1), m^2. Throws Error(index) and Error(shape_mismatch).
NOVAPHY_API Tensor particle_point_loss_generated(const Tensor& particle_q, std::int64_t particle_index,
                                                 float target_x, float target_y, float target_z);

/// The unweighted mean of the positions (n, 3), shape (1, 3), m. Throws Error(shape_mismatch), Error(value)
/// for no particle.
NOVAPHY_API Tensor particle_centroid_generated(const Tensor& particle_q);

/// |point - target|^2 of one point (1, 3) or (3), shape (1), m^2. Throws Error(shape_mismatch).
NOVAPHY_API Tensor vec3_point_loss_generated(const Tensor& point, float target_x, float target_y,
                                             float target_z);

/// x held within [lower, upper], of the same shape, for updates that are projected on bounds; can be
/// captured. The gradient passes inside the bounds, and is 0 at them and outside. Throws Error(value) for bounds
/// in the wrong order.
NOVAPHY_API Tensor clamp_f32_generated(const Tensor& x, float lower, float upper);

}  // namespace nova
