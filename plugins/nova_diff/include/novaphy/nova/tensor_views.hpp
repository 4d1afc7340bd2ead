// SPDX-License-Identifier: Apache-2.0
// Arrays of Model and SimState as tensors, without a copy. All views of one array share its memory and its
// gradient.
#pragma once

#include "novaphy/export.hpp"
#include "novaphy/model.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

// `requires_grad` true asks backward to keep the gradient of the array; false leaves the array's own flag as
// it is.
NOVAPHY_API Tensor state_particle_q_tensor(novaphy::SimState& state,
                                           bool requires_grad = false);  ///< (P, 3), m
NOVAPHY_API Tensor state_particle_qd_tensor(novaphy::SimState& state,
                                            bool requires_grad = false);  ///< (P, 3), m/s
NOVAPHY_API Tensor state_particle_f_tensor(novaphy::SimState& state,
                                           bool requires_grad = false);                         ///< (P, 3), N
NOVAPHY_API Tensor state_body_q_tensor(novaphy::SimState& state, bool requires_grad = false);   ///< (B, 7)
NOVAPHY_API Tensor state_body_qd_tensor(novaphy::SimState& state, bool requires_grad = false);  ///< (B, 6)
NOVAPHY_API Tensor state_body_f_tensor(novaphy::SimState& state, bool requires_grad = false);   ///< (B, 6)
NOVAPHY_API Tensor state_joint_q_tensor(novaphy::SimState& state, bool requires_grad = false);  ///< (Q)
NOVAPHY_API Tensor state_joint_qd_tensor(novaphy::SimState& state, bool requires_grad = false);     ///< (D)
NOVAPHY_API Tensor model_tet_activation_tensor(novaphy::Model& model, bool requires_grad = false);  ///< (T)
NOVAPHY_API Tensor model_tet_material_tensor(novaphy::Model& model, bool requires_grad = false);  ///< (T, 3)
NOVAPHY_API Tensor model_tri_activation_tensor(novaphy::Model& model, bool requires_grad = false);  ///< (F)
NOVAPHY_API Tensor model_tri_material_tensor(novaphy::Model& model, bool requires_grad = false);  ///< (F, 5)

}  // namespace nova
