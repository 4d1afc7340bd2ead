// SPDX-License-Identifier: Apache-2.0
// Publishes the force `orthotropic`: the arrays of the plugin, and which of them the formula reads.
#include "../formula/orthotropic.h"
#include "novaphy/nova/formula_force.hpp"
#include "novaphy/plugin.hpp"

namespace {

using namespace novaphy;

CustomArray per_tetrahedron(const char* name, ArrayOwner owner, const char* doc, std::vector<float> row) {
  return {{name, DType::f32, Frequency::tet, static_cast<int>(row.size()), doc}, owner, row};
}

struct Orthotropic {
  static ForceDescription describe() {
    return {
        .rows = Frequency::tet,
        .inputs = {"particle_q", "tet_poses", "orthotropic_stiffness", "orthotropic_lambda",
                   "orthotropic_frame", "orthotropic_contraction"},
        .arrays = {
            per_tetrahedron("orthotropic_stiffness", ArrayOwner::model, "along each axis of the frame, Pa",
                            {1e4f, 1e4f, 1e4f}),
            per_tetrahedron("orthotropic_lambda", ArrayOwner::model, "Lame's first parameter, Pa", {1e4f}),
            per_tetrahedron("orthotropic_frame", ArrayOwner::model,
                            "fibre axes to axes of the rest shape, xyzw", {0.0f, 0.0f, 0.0f, 1.0f}),
            per_tetrahedron("orthotropic_contraction", ArrayOwner::state,
                            "strain of the first axis at rest, negated", {0.0f})}};
  }
  template <class Row>
  static auto force(const Row& row) {
    using T = typename Row::Scalar;
    const orthotropic::Material<T> material{row.vec3(2), row.f32(3), row.quat(4), row.f32(5)};
    return orthotropic::forces(row.template vec3s<4>(0), row.mat33(1), material);
  }
};

void load(PluginContext& context) {
  static nova::FormulaForce<Orthotropic> force("orthotropic");
  context.publish<IForce>("orthotropic", &force);
}

}  // namespace

NOVAPHY_PLUGIN(load);
