// SPDX-License-Identifier: Apache-2.0
// Differentiable particle dynamics: integration, alone or with contact against shapes of the world.
#pragma once

#include "novaphy/model.hpp"
#include "novaphy/nova/tensor.hpp"

namespace novaphy::semi_implicit {

/// Positions [m] and velocities [m/s], (P, 3) each.
struct ParticleTensors {
  nova::Tensor q, qd;
};

/// Positions and velocities after one semi-implicit step of `dt` [s] under `particle_f` [N] and gravity.
/// Recorded on this thread's open tape. Throws Error(value) unless dt is positive, Error(shape_mismatch)
/// unless all three are (P, 3).
NOVAPHY_API ParticleTensors integrate_particles_generated(const Model& model, const nova::Tensor& particle_q,
                                                          const nova::Tensor& particle_qd,
                                                          const nova::Tensor& particle_f, float dt);

/// The same after adding the contact forces of shapes of the world within `soft_contact_margin` [m], in
/// one kernel. Throws also as collision::check_static_contact().
NOVAPHY_API ParticleTensors integrate_particles_with_static_contacts_generated(
    const Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
    const nova::Tensor& particle_f, float soft_contact_margin, float dt, bool ignore_body_shapes = false);

/// integrate_particles_generated() into arrays that exist.
void integrate_particles(const Model& model, const DeviceArray& q, const DeviceArray& qd,
                         const DeviceArray& f, const DeviceArray& q_out, const DeviceArray& qd_out, float dt);

}  // namespace novaphy::semi_implicit
