// SPDX-License-Identifier: Apache-2.0
// What both semi-implicit solvers watch: a dt that cannot work, and the first value that is not finite.
#pragma once

#include <cstdint>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

class NOVAPHY_API StepWatch {
 public:
  /// Warns as warn_if_unstable() when dt or `contacts` is another than last time. `who` begins the messages.
  void before_step(const char* who, const Model& model, const SimState& state_in, float dt, bool contacts);
  /// Counts the step. With `check`, throws Error(domain_check) naming the first particle of state_out whose position or
  /// velocity is not finite, its element and the step; state_out keeps what the step gave. Warns once when a particle
  /// reaches Model::particle_max_velocity: a simulation that blows up is cut off there before it overflows.
  void after_step(const char* who, const Model& model, const SimState& state_in, const SimState& state_out, float dt,
                  bool check);

 private:
  void tell_of_speed(const char* who, const Model& model, const SimState& state_out);

  float dt_ = 0.0f;
  bool contacts_ = false;
  std::int64_t steps_ = 0;
  bool told_of_speed_ = false;
};

}  // namespace novaphy::semi_implicit
