// SPDX-License-Identifier: Apache-2.0
// Losses over particle arrays. Recorded on this thread's open tape.
#pragma once

#include <cstdint>

#include "novaphy/export.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// |particle_q[particle_index] - target|^2, shape (1), m^2. Throws Error(index) and Error(shape_mismatch).
NOVAPHY_API Tensor particle_point_loss_generated(const Tensor& particle_q, std::int64_t particle_index,
                                                 float target_x, float target_y, float target_z);

}  // namespace nova
