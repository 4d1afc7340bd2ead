// SPDX-License-Identifier: Apache-2.0
// The forces of particles on each other and on triangles in the forward step.
#pragma once

#include <span>

#include "novaphy/semi_implicit/touching_pairs.hpp"

namespace novaphy::semi_implicit {

/// Adds the forces of all touching pairs to `total` [N], a row for each particle: those between particles in
/// the order of the pairs, then those between particles and triangles.
void add_pair_forces(const Model& model, const TouchingPairs& pairs, std::span<const Vec3f> q,
                     std::span<const Vec3f> qd, std::span<Vec3f> total);

}  // namespace novaphy::semi_implicit
