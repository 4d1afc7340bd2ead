// SPDX-License-Identifier: Apache-2.0
// The ball's rollout through DiffSemiImplicitSolver.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor_views.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "scenes.hpp"

namespace novaphy::test {

inline constexpr float kBallStep = static_cast<float>(1.0 / 480.0);

/// The ball's rollout with one state a substep.
struct Ball {
  std::shared_ptr<Model> model;
  std::vector<std::shared_ptr<SimState>> states;
  std::shared_ptr<Contacts> contacts;
  std::unique_ptr<CollisionPipeline> pipeline;
  std::unique_ptr<DiffSemiImplicitSolver> solver;

  explicit Ball(bool requires_grad = false) : model(ball_model(requires_grad)) {
    pipeline = std::make_unique<CollisionPipeline>(model, CollisionConfig{.soft_contact_margin = 10.0f});
    solver = std::make_unique<DiffSemiImplicitSolver>(model);
    for (int t = 0; t <= 288; ++t) states.push_back(model->state());
    contacts = pipeline->contacts();
    pipeline->collide(*states[0], *contacts);
    nova::state_particle_qd_tensor(*states[0], true);
  }
  /// `before_step(t)` runs before each step.
  template <class BeforeStep>
  nova::Tensor roll(BeforeStep&& before_step) {
    for (std::size_t t = 0; t < 288; ++t) {
      states[t]->clear_forces();
      before_step(t);
      solver->step(*states[t], *states[t + 1], nullptr, contacts.get(), kBallStep);
    }
    return nova::particle_point_loss_generated(nova::view(states[288]->particle_q), 0, 0.0f, -2.0f, 1.5f);
  }
  nova::Tensor roll() {
    return roll([](std::size_t) {});
  }
  std::vector<float> start_velocity_gradient() const { return gradient_of(states[0]->particle_qd); }

  static std::vector<float> gradient_of(const DeviceArray& array) {
    const auto gradient = nova::grad_of(array);
    REQUIRE(gradient.has_value());
    const auto values = gradient->read<float>();
    return {values.begin(), values.end()};
  }
};

}  // namespace novaphy::test
