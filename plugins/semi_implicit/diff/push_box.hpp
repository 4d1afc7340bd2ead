// SPDX-License-Identifier: Apache-2.0
// The differentiable push of a box along one axis.
#pragma once

#include "novaphy/nova/tensor.hpp"
#include "novaphy/semi_implicit/formula/push_box.h"

namespace novaphy::semi_implicit {

/// Positions [m] and speeds [m/s] of the boxes after one step, (n) each.
struct PushedBoxes {
  nova::Tensor x, v;
};

/// n independent boxes and pushers, one step each (formula/push_box.h). Recorded on this thread's open tape:
/// gradients reach the four tensors. Throws Error(value) for a mass, step or smoothing speed that is not
/// positive and for a negative or infinite number, Error(shape_mismatch) unless all four are (n).
NOVAPHY_API PushedBoxes integrate_push_box_generated(const nova::Tensor& box_x, const nova::Tensor& box_vx,
                                                     const nova::Tensor& pusher_x,
                                                     const nova::Tensor& pusher_vx,
                                                     const formula::PushBox<float>& push);

}  // namespace novaphy::semi_implicit
