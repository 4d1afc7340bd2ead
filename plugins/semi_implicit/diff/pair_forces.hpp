// SPDX-License-Identifier: Apache-2.0
// The forces of particles on each other and on triangles in a recorded step.
#pragma once

#include "novaphy/nova/kernel.hpp"
#include "novaphy/semi_implicit/touching_pairs.hpp"

namespace novaphy::semi_implicit {

/// The same sums as add_pair_forces() of the forward step, recorded on this thread's open tape. Which pairs
/// touch is not differentiated. `material`: Model::particle_contact_material as a row, `soft`: the first four
/// of soft_contact_material.
void add_pair_forces(const Model& model, const TouchingPairs& pairs, const DeviceArray& q,
                     const DeviceArray& qd, const DeviceArray& material, const DeviceArray& soft,
                     const DeviceArray& total);

/// x, v, radius, material, pair -> f; x, radius, soft, corner -> f. Rows are pairs, scattered in their order.
const nova::Kernel& particle_pair_kernel();
const nova::Kernel& triangle_pair_kernel();

}  // namespace novaphy::semi_implicit
