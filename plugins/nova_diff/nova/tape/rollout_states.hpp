// SPDX-License-Identifier: Apache-2.0
// The states of a rollout: those that hold a step now, and those that are free.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "novaphy/model.hpp"

namespace nova {

class RolloutStates {
 public:
  using State = std::shared_ptr<novaphy::SimState>;
  explicit RolloutStates(std::shared_ptr<const novaphy::Model> model) : model_(std::move(model)) {}

  /// A state that nobody uses, of any content. It keeps no gradients.
  State take();
  void give_back(State state) { free_.push_back(std::move(state)); }
  /// Begins with this start, and nothing else.
  void begin(State start);
  const novaphy::Model& model() const noexcept { return *model_; }
  void hold(std::size_t step, State state) { held_[step] = std::move(state); }
  const State& at(std::size_t step) const { return held_.at(step); }
  /// Frees those from `step` on, but for the start; the one in `last` is set aside.
  void drop_from(std::size_t step);
  void set_last(std::size_t step) { last_ = held_.at(step), last_step_ = step; }
  std::vector<std::pair<std::size_t, State>> all() const;
  void clear() { held_.clear(), free_.clear(), last_.reset(); }
  /// States of its own, the start not counted.
  std::size_t count() const;
  std::size_t bytes_of_one();

 private:
  std::shared_ptr<const novaphy::Model> model_;
  std::map<std::size_t, State> held_;
  std::vector<State> free_;
  State last_;
  std::size_t last_step_ = 0, bytes_ = 0;
};

/// The memory of a state's arrays, in one order; those without elements are left out. Forces come last: steps
/// begin with cleared ones.
struct StateArrays {
  explicit StateArrays(novaphy::SimState& state);
  std::vector<std::shared_ptr<novaphy::Storage>> arrays;
  std::size_t carried = 0;  ///< the first so many pass from step to step
};

/// Of what passes from step to step.
std::uint64_t content_hash(const StateArrays& arrays);

}  // namespace nova
