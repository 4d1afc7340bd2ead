// SPDX-License-Identifier: Apache-2.0
// Which steps a rollout runs, keeps and runs again, so that backward needs a bounded number of states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "novaphy/nova/rollout.hpp"

namespace nova {

/// One thing that a rollout does. It begins with the state of step `from`, which is there.
struct RolloutAction {
  enum class Kind : std::uint8_t {
    advance,  ///< run to `to` and drop what lies between; the state of `to` stays
    record,  ///< run to `to` on the tape, differentiate, and drop all states from `from` on, except the start
  } kind = Kind::advance;
  std::size_t from = 0, to = 0;
};

/// What a rollout needs memory for.
struct RolloutCost {
  std::size_t state = 0;     ///< bytes of a state
  std::size_t record = 0;    ///< bytes that a step on the tape holds besides its state
  std::size_t constant = 0;  ///< bytes that are there anyway: cotangents
};

/// Steps that are run besides the one recorded run of each: the least there is for `units` units and
/// `checkpoints` states besides the start (Griewank and Walther 2000). Saturates.
std::size_t least_repetition(std::size_t units, std::size_t checkpoints);

/// The plan with the fewest repeated steps that fits in `budget` bytes; 0 = no limit. Throws Error(value)
/// with the least budget when none fits.
RolloutPlan plan_rollout(std::size_t steps, const RolloutCost& cost, std::size_t budget);

/// The actions of a plan, in order. The first `record` ends with the last step.
std::vector<RolloutAction> actions_of(const RolloutPlan& plan);

}  // namespace nova
