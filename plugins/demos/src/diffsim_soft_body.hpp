// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_soft_body: gradient descent on the stiffness of a soft cube that bounces off the floor and a
// wall.
#pragma once

#include "src/trained_demo.hpp"

namespace novaphy::demos {

/// The scene and numbers of Newton's example_diffsim_soft_body: 40 tetrahedra, 960 substeps, contacts found
/// in each, inside the recording. What is trained are mu and lambda, one pair for all tetrahedra or, with
/// per_tet=1, one each.
class DiffsimSoftBody final : public TrainedDemo {
 public:
  DiffsimSoftBody() : TrainedDemo({.frames = 60, .substeps = 16}, 0.001f) {}
  std::string summary() const override {
    return "a soft cube learns its stiffness, to bounce off a wall to a target";
  }
  /// Option per_tet: 0 (default) or 1. Throws Error(value) for others, Error(plugin_not_available) without
  /// the solver's module.
  void build(const DemoOptions& options) override;
  int default_iterations() const override { return 30; }

 protected:
  void before_step(SimState& state) override;
  nova::Tensor loss(nova::Tensor particle_q) const override;
  void update() override;

 private:
  bool per_tet_ = false;
};

}  // namespace novaphy::demos
