// SPDX-License-Identifier: Apache-2.0
// Checkpoint schedules: every step is reversed once from states that are there, in the memory and with the
// repetition that the plan promises, and no schedule has less.
#include "nova/tape/schedule.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "test_kernels.hpp"

namespace nova::test {
namespace {

struct Played {
  std::size_t repeated = 0, most_states = 0;  // states besides the start
};

/// Follows the actions and checks that each may be done.
Played play(const RolloutPlan& plan) {
  Played played;
  std::set<std::size_t> states{0};
  std::size_t reversed_from = plan.steps;
  for (const RolloutAction& action : actions_of(plan)) {
    CAPTURE(action.from);
    CAPTURE(action.to);
    REQUIRE(states.contains(action.from));
    REQUIRE(action.from < action.to);
    if (action.kind == RolloutAction::Kind::advance) {
      REQUIRE(action.to < reversed_from);
      played.repeated += action.to - action.from;
      states.insert(action.to);
      const std::size_t passing = action.to - action.from > 1 ? 1 : 0;
      played.most_states = std::max(played.most_states, states.size() - 1 + passing);
    } else {
      REQUIRE(action.to == reversed_from);
      REQUIRE(action.to - action.from <= plan.segment);
      reversed_from = action.from;
      played.most_states = std::max(played.most_states, states.size() - 1 + action.to - action.from);
      states.erase(states.lower_bound(std::max<std::size_t>(action.from, 1)), states.end());
    }
  }
  REQUIRE(reversed_from == 0);
  REQUIRE(states == std::set<std::size_t>{0});
  return played;
}

/// The least repetition by trying every split.
std::size_t by_search(std::size_t units, std::size_t checkpoints) {
  static std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  if (units <= 1) return 0;
  if (checkpoints == 0) return units * (units - 1) / 2;
  const auto [at, made] = known.try_emplace({units, checkpoints}, 0);
  if (!made) return at->second;
  std::size_t best = units * units;
  for (std::size_t first = 1; first < units; ++first)
    best = std::min(best, first + by_search(units - first, checkpoints - 1) + by_search(first, checkpoints));
  return known[{units, checkpoints}] = best;
}

}  // namespace

TEST_CASE("no schedule repeats less than the one that is used") {
  for (std::size_t units = 1; units <= 60; ++units)
    for (std::size_t checkpoints = 0; checkpoints <= 12; ++checkpoints) {
      CAPTURE(units);
      CAPTURE(checkpoints);
      const RolloutPlan plan{units, 1, checkpoints, 0, 0};
      REQUIRE(least_repetition(units, checkpoints) == by_search(units, checkpoints));
      const Played played = play(plan);
      REQUIRE(played.repeated == by_search(units, checkpoints));
      REQUIRE(played.most_states <= checkpoints + 2);
    }
}

TEST_CASE("a plan keeps within its budget and repeats what it says") {
  const RolloutCost cost{.state = 1000, .record = 300, .constant = 2000};
  for (const std::size_t steps : {1u, 2u, 7u, 100u, 288u, 1000u}) {
    std::size_t repeated_before = steps * steps;
    for (std::size_t budget = 4300; budget < 1400 * (steps + 3); budget += budget / 7) {
      CAPTURE(steps);
      CAPTURE(budget);
      const RolloutPlan plan = plan_rollout(steps, cost, budget);
      CHECK(plan.bytes <= budget);
      const Played played = play(plan);
      CHECK(played.repeated == plan.repeated);
      CHECK(played.most_states * cost.state + plan.segment * cost.record + cost.constant <= plan.bytes);
      CHECK(plan.repeated <=
            repeated_before + steps / 10);  // more memory, no more work (but for short last segments)
      repeated_before = plan.repeated;
    }
    const RolloutPlan all = plan_rollout(steps, cost, 0);
    CHECK(all.stores_all());
    CHECK(all.repeated == 0);
    CHECK(plan_rollout(steps, cost, all.bytes).stores_all());
  }
}

TEST_CASE("with two states for each root of the number of steps, a step is run twice at most") {
  for (const std::size_t steps : {100u, 961u, 10000u}) {
    std::size_t root = 0;
    while (root * root < steps) ++root;
    const RolloutPlan plan = plan_rollout(steps, {.state = 1, .record = 0, .constant = 0}, 2 * root + 1);
    CHECK(plan.repeated <= steps);
  }
}

TEST_CASE("a budget that is too small says what is needed") {
  check_error(ErrorKind::value,
              "novaphy.diff.Rollout: memory_budget is 3000 bytes; the least is 4300 bytes: 1000 for each of "
              "two states, "
              "300 for a recorded step, 2000 for cotangents",
              [] { (void)plan_rollout(10, {.state = 1000, .record = 300, .constant = 2000}, 3000); });
  check_error(ErrorKind::value, "novaphy.diff.Rollout: memory_budget is 3000 bytes; one step needs 3300",
              [] { (void)plan_rollout(1, {.state = 1000, .record = 300, .constant = 2000}, 3000); });
}

}  // namespace nova::test
