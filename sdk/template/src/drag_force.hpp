// SPDX-License-Identifier: Apache-2.0
@file force@
// The drag of air as a force of SolverSemiImplicit, and with the same formula of DiffSemiImplicitSolver.
#pragma once

#include "@name@/formula/drag.h"
#include "@name@/options.hpp"
#include "novaphy/nova/formula_force.hpp"

namespace @name@ {

struct DragForce {
  static novaphy::ForceDescription describe() {
    return {.rows = novaphy::Frequency::particle,
            .inputs = {"particle_qd", "particle_mass", "@name@_drag_rate"},
            .arrays = {{{"@name@_drag_rate", novaphy::DType::f32, novaphy::Frequency::once, 1, "drag, 1/s"},
                        novaphy::ArrayOwner::model,
                        {configured().drag}}}};
  }
  /// Inputs by their place in the list above. Row is a row of F32, or of traced scalars.
  template <class Row>
  static auto force(const Row& row) {
    return formula::drag_acceleration(row.vec3(0), row.f32(2)) * row.f32(1);
  }
};

}  // namespace @name@
