// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_ball: gradient descent on the start velocity of a ball that bounces off the floor and a wall.
#pragma once

#include "src/trained_demo.hpp"

namespace novaphy::demos {

/// The scene and numbers of Newton's example_diffsim_ball. Walls do not move, so contacts are generated once,
/// wide enough for the whole flight.
class DiffsimBall final : public TrainedDemo {
 public:
  DiffsimBall() : TrainedDemo({.frames = 36, .substeps = 8}, 10.0f) {}
  std::string summary() const override { return "a ball that is thrown against a wall learns its throw"; }
  /// Throws Error(value) for options: there are none. Throws Error(plugin_not_available) without the solver's
  /// module.
  void build(const DemoOptions& options) override;
  int default_iterations() const override { return 30; }

 protected:
  nova::Tensor loss(nova::Tensor particle_q) const override;
  void update() override;
};

}  // namespace novaphy::demos
