// SPDX-License-Identifier: Apache-2.0
// Differentiable contact forces of particles with shapes of the world.
#pragma once

#include "novaphy/model.hpp"
#include "novaphy/nova/tensor.hpp"

namespace novaphy::collision {

/// particle_f plus the contact forces, (P, 3), N. A particle is in contact within radius + shape margin +
/// `soft_contact_margin` [m] of a shape. Recorded on this thread's open tape: gradients reach positions,
/// velocities, forces, radii, materials and the poses and sizes of the shapes. Throws Error(shape_mismatch)
/// unless all three are (P, 3), and as check_static_contact().
NOVAPHY_API nova::Tensor eval_static_particle_shape_contact_forces_generated(
    const Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
    const nova::Tensor& particle_f, float soft_contact_margin = 0.0f, bool ignore_body_shapes = false);

}  // namespace novaphy::collision
