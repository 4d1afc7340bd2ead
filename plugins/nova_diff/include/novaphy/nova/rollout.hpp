// SPDX-License-Identifier: Apache-2.0
// Rollouts: many steps, differentiated with a bounded number of states.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "novaphy/export.hpp"
#include "novaphy/model.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/solver.hpp"

namespace nova {

/// How `steps` steps are differentiated.
struct RolloutPlan {
  std::size_t steps = 0;
  std::size_t segment = 0;      ///< steps that are on the tape at once
  std::size_t checkpoints = 0;  ///< states that are kept besides the start and those of a segment
  std::size_t repeated = 0;     ///< steps that backward runs again, beside the one recorded run of each
  std::size_t bytes = 0;  ///< the most that is held at once, the start state and the last one not counted

  bool stores_all() const noexcept { return segment >= steps; }
};

using RolloutState = std::shared_ptr<novaphy::SimState>;

/// What a rollout runs. Where memory is bounded, a step may be run several times: it must then do the same
/// again, from the state, the parameters and the step's number alone.
struct RolloutCallbacks {
  /// `out` = the state one step after `in`. Steps are numbered from 0.
  std::function<void(std::size_t step, const RolloutState& in, const RolloutState& out)> step;
  /// The losses of the state after `step` steps, from 1 on. All losses are added up in order.
  std::function<std::vector<Tensor>(std::size_t step, const RolloutState& state)> losses;
  /// After each run of a step: how many runs are done, of how many, in this roll() or backward(). May throw
  /// to stop.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// A step of a solver: clears the forces of the state, then steps. `control` and `contacts` may be null.
NOVAPHY_API std::function<void(std::size_t, const RolloutState&, const RolloutState&)> solver_step(
    std::shared_ptr<novaphy::ISolver> solver, std::shared_ptr<novaphy::Control> control,
    std::shared_ptr<novaphy::Contacts> contacts, float dt);

/// roll() runs the steps and returns the loss; backward() then adds the gradient of the loss to the start
/// state, the parameters and whatever else requires it. Both give the bits of one Tape over all steps,
/// whatever the budget: steps that were dropped run again, and every state that comes out again is compared
/// by its hash. States between are the rollout's own and keep no gradients. An error or an interrupt leaves
/// gradients and states as they were, and the rollout ready for another roll(). One thread.
class NOVAPHY_API Rollout {
 public:
  /// `memory_budget` in bytes, 0 = none: all states are kept.
  Rollout(std::shared_ptr<const novaphy::Model> model, std::size_t steps, RolloutCallbacks callbacks,
          std::size_t memory_budget = 0);
  ~Rollout();
  Rollout(const Rollout&) = delete;
  Rollout& operator=(const Rollout&) = delete;

  /// Runs all steps from `start`, which must keep its values until backward(). Under NoGrad there is no
  /// backward(). Empty when no step has a loss. Throws Error(value) when the budget is too small,
  /// Error(unsupported_feature) while a tape records, Error(capture) inside a capture.
  std::optional<Tensor> roll(std::shared_ptr<novaphy::SimState> start);
  /// Once after each roll(). Throws Error(generic) without one, Error(value) without a loss,
  /// Error(stale_record) when a step gave another state than before, with its number.
  void backward();

  /// The states that are kept now, by step; the first is the start, the last that of the last step.
  std::vector<std::pair<std::size_t, std::shared_ptr<novaphy::SimState>>> states() const;
  /// Bytes of states, recording and cotangents that are held now.
  std::size_t memory_bytes() const;
  /// What roll() and backward() will do and need. With a budget this tries the first two steps, once.
  RolloutPlan plan();
  /// The same as a sentence.
  std::string estimate();
  /// Gives all memory back. A backward() then needs another roll().
  void release();

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace nova
