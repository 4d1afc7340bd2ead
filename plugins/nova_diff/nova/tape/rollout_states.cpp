// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/rollout_states.hpp"

#include <algorithm>
#include <bit>

#include "nova/tensor/slot.hpp"

namespace nova {

using novaphy::ArrayInfo;
using novaphy::DeviceArray;
using novaphy::SimState;

RolloutStates::State RolloutStates::take() {
  if (free_.empty()) return model_->state(false);
  State state = std::move(free_.back());
  free_.pop_back();
  return state;
}

void RolloutStates::begin(State start) {
  drop_from(1);
  held_.clear();
  if (last_) free_.push_back(std::move(last_));
  last_.reset();
  held_[0] = std::move(start);
}

void RolloutStates::drop_from(std::size_t step) {
  for (auto at = held_.lower_bound(std::max<std::size_t>(step, 1)); at != held_.end(); at = held_.erase(at))
    if (at->second != last_) free_.push_back(std::move(at->second));
}

std::vector<std::pair<std::size_t, RolloutStates::State>> RolloutStates::all() const {
  std::vector<std::pair<std::size_t, State>> out(held_.begin(), held_.end());
  if (last_ && !held_.contains(last_step_)) out.emplace_back(last_step_, last_);
  return out;
}

std::size_t RolloutStates::count() const {
  const std::size_t held = held_.empty() ? 0 : held_.size() - 1;
  return held + free_.size() + (last_ && !held_.contains(last_step_) ? 1 : 0);
}

std::size_t RolloutStates::bytes_of_one() {
  if (bytes_ > 0) return bytes_;
  State state = take();
  for (const auto& array : StateArrays(*state).arrays) bytes_ += array->bytes();
  give_back(std::move(state));
  return bytes_;
}

StateArrays::StateArrays(SimState& state) {
  std::vector<std::shared_ptr<novaphy::Storage>> forces;
  state.visit([&](const ArrayInfo& info, DeviceArray& array) {
    if (!array.storage() || array.bytes() == 0) return;
    (info.name == "particle_f" || info.name == "body_f" ? forces : arrays).push_back(array.storage());
  });
  carried = arrays.size();
  arrays.insert(arrays.end(), forces.begin(), forces.end());
}

std::uint64_t content_hash(const StateArrays& state) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < state.carried; ++i)
    hash = std::rotl(hash, 7) * 0x9E3779B97F4A7C15ull + content_hash(*state.arrays[i]);
  return hash;
}

}  // namespace nova
