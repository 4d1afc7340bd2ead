// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_ball: gradient descent on the start velocity of a ball that bounces off the floor and a wall.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "novaphy/collision.hpp"
#include "novaphy/demo.hpp"
#include "novaphy/model.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/solver.hpp"

namespace novaphy::demos {

/// The scene and numbers of Newton's example_diffsim_ball. States, contacts and tape are made once and used
/// again in every iteration.
class DiffsimBall final : public IDemo {
 public:
  std::string summary() const override { return "a ball that is thrown against a wall learns its throw"; }
  /// Throws Error(value) for options: there are none. Throws Error(plugin_not_available) without the solver's
  /// module.
  void build(const DemoOptions& options) override;
  int default_iterations() const override { return 30; }
  float iterate() override;
  float rollout() override;
  /// particle_q_substeps and particle_qd_substeps (289, 1, 3), particle_q (37, 1, 3).
  std::vector<DemoArray> arrays() const override;

 private:
  nova::Tensor run_substeps();

  std::shared_ptr<Model> model_;
  std::unique_ptr<ICollisionPipeline> pipeline_;
  std::unique_ptr<ISolver> solver_;
  std::vector<std::shared_ptr<SimState>> states_;
  std::shared_ptr<Contacts> contacts_;
  nova::Tensor start_velocity_;
  nova::Tape tape_;
};

}  // namespace novaphy::demos
