// SPDX-License-Identifier: Apache-2.0
// Publishes the force `wind`: what it reads, what it owns, and its formula.
#include "../formula/wind.h"
#include "novaphy/nova/formula_force.hpp"
#include "novaphy/plugin.hpp"

namespace {

using namespace novaphy;

struct Wind {
  static ForceDescription describe() {
    return {.rows = Frequency::particle,
            .inputs = {"particle_qd", "particle_radius", "wind_velocity", "wind_density", "wind_drag"},
            .arrays = {{{"wind_velocity", DType::f32, Frequency::once, 3, "velocity of the air, m/s"},
                        ArrayOwner::model,
                        {0.0f, 0.0f, 0.0f}},
                       {{"wind_density", DType::f32, Frequency::once, 1, "density of the air, kg/m^3"},
                        ArrayOwner::model,
                        {1.225f}},
                       {{"wind_drag", DType::f32, Frequency::particle, 1, "drag coefficient of a particle"},
                        ArrayOwner::model,
                        {0.47f}}}};
  }
  /// Inputs by their place in the list above. Row is a row of F32, or of traced scalars.
  template <class Row>
  static auto force(const Row& row) {
    return wind::drag_force(row.vec3(0), row.f32(1), row.vec3(2), row.f32(3), row.f32(4));
  }
};

void load(PluginContext& context) {
  static nova::FormulaForce<Wind> force("wind");
  context.publish<IForce>("wind", &force);
}

}  // namespace

NOVAPHY_PLUGIN(load);
