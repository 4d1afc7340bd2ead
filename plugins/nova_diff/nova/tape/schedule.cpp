// SPDX-License-Identifier: Apache-2.0
// Binomial checkpointing over segments of steps.
#include "nova/tape/schedule.hpp"

#include <algorithm>
#include <limits>

#include "novaphy/error.hpp"

namespace nova {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 4;

std::size_t times(std::size_t a, std::size_t b) {
  return b != 0 && a > kMost / b ? kMost : a * b;
}

// C(a + b, b): how many units a states and b runs can reverse. Saturates.
std::size_t reach(std::size_t a, std::size_t b) {
  if (a < b) std::swap(a, b);
  std::size_t value = 1;
  for (std::size_t i = 1; i <= b; ++i) {
    if (value > kMost / (a + i)) return kMost;
    value = value * (a + i) / i;  // exact: a product of i consecutive numbers
  }
  return value;
}

// The fewest runs of a unit with which `states` states, the start included, reverse `units` units.
std::size_t runs_needed(std::size_t units, std::size_t states) {
  std::size_t runs = 0;
  while (reach(states, runs) < units) ++runs;
  return runs;
}

// How far to advance before the next state is kept. Both parts then need no more runs than the whole: `after`
// units with one state less, `first` units with one run less.
std::size_t first_part(std::size_t units, std::size_t states) {
  const std::size_t runs = runs_needed(units, states);
  const std::size_t most_after = reach(states - 1, runs),
                    least_first = runs >= 2 ? reach(states, runs - 2) : 1;
  const std::size_t lowest = units > most_after ? units - most_after : 1;
  return std::clamp(std::max(lowest, least_first), std::size_t{1}, units - 1);
}

class Actions {
 public:
  Actions(const RolloutPlan& plan) : plan_(plan) {}
  std::vector<RolloutAction> all() {
    reverse(0, (plan_.steps + plan_.segment - 1) / plan_.segment, plan_.checkpoints);
    return std::move(actions_);
  }

 private:
  std::size_t step_of(std::size_t unit) const { return std::min(plan_.steps, unit * plan_.segment); }
  void advance(std::size_t from, std::size_t to) {
    actions_.push_back({RolloutAction::Kind::advance, step_of(from), step_of(to)});
  }
  void reverse(std::size_t begin, std::size_t end, std::size_t free) {
    while (end - begin > 1) {
      const std::size_t middle = free == 0 ? end - 1 : begin + first_part(end - begin, free + 1);
      advance(begin, middle);
      reverse(middle, end, free == 0 ? 0 : free - 1);
      end = middle;
    }
    actions_.push_back({RolloutAction::Kind::record, step_of(begin), step_of(end)});
  }

  const RolloutPlan& plan_;
  std::vector<RolloutAction> actions_;
};

std::size_t bytes_of(std::size_t segment, std::size_t checkpoints, bool all, const RolloutCost& cost) {
  // a segment whose start was not kept holds that state too
  const std::size_t states = checkpoints + segment + (all ? 0 : 1);
  return times(states, cost.state) + times(segment, cost.record) + cost.constant;
}

}  // namespace

std::size_t least_repetition(std::size_t units, std::size_t checkpoints) {
  if (units <= 1) return 0;
  const std::size_t states = checkpoints + 1, runs = runs_needed(units, states);
  return times(runs, units) - reach(states + 1, runs - 1);
}

RolloutPlan plan_rollout(std::size_t steps, const RolloutCost& cost, std::size_t budget) {
  const RolloutPlan all{steps, steps, 0, 0, bytes_of(steps, 0, true, cost)};
  if (budget == 0 || all.bytes <= budget || steps <= 1) {
    NOVAPHY_REQUIRE(budget == 0 || all.bytes <= budget, novaphy::ErrorKind::value,
                    "novaphy.diff.Rollout: memory_budget is ", budget, " bytes; one step needs ", all.bytes);
    return all;
  }
  RolloutPlan best;
  for (std::size_t segment = 1; segment < steps; ++segment) {
    const std::size_t least = bytes_of(segment, 0, false, cost);
    if (least > budget) break;
    const std::size_t units = (steps + segment - 1) / segment;
    const std::size_t fit = cost.state == 0 ? units : (budget - least) / cost.state;
    const std::size_t checkpoints = std::min(fit, units - 1);
    const std::size_t repeated = std::min(times(segment, least_repetition(units, checkpoints)), kMost);
    const bool better = best.steps == 0 || repeated < best.repeated;
    if (better) best = {steps, segment, checkpoints, repeated, bytes_of(segment, checkpoints, false, cost)};
  }
  NOVAPHY_REQUIRE(best.steps != 0, novaphy::ErrorKind::value, "novaphy.diff.Rollout: memory_budget is ",
                  budget, " bytes; the least is ", bytes_of(1, 0, false, cost), " bytes: ", cost.state,
                  " for each of two states, ", cost.record, " for a recorded step, ", cost.constant,
                  " for cotangents");
  std::size_t repeated = 0;  // the last unit may be shorter
  for (const RolloutAction& action : actions_of(best))
    if (action.kind == RolloutAction::Kind::advance) repeated += action.to - action.from;
  best.repeated = repeated;
  return best;
}

std::vector<RolloutAction> actions_of(const RolloutPlan& plan) {
  if (plan.steps == 0) return {};
  return Actions(plan).all();
}

}  // namespace nova
