// SPDX-License-Identifier: Apache-2.0
// Forces of other plugins in a recorded step: their programs, launched through novaphy.x.INova/1.
#pragma once

#include <string>
#include <vector>

#include "novaphy/nova.hpp"
#include "novaphy/semi_implicit/forces.hpp"

namespace novaphy::semi_implicit {

class RecordedForces {
 public:
  RecordedForces() = default;
  /// Throws as Forces, Error(unsupported_feature) for a force without a program, and as INova::compile() for
  /// one whose program is not well formed. `who` begins the messages.
  RecordedForces(Model& model, const std::vector<std::string>& names, const char* who);

  const Forces& forces() const noexcept { return forces_; }
  /// Adds every force to `total` (P, 3), in order. Recorded on this thread's open tape.
  void add_to(const DeviceArray& total, const Model& model, const SimState& state) const;
  /// As Forces::carry_over(), recorded.
  void carry_over(const SimState& state_in, SimState& state_out, float dt) const;

 private:
  Forces forces_;
  INova* nova_ = nullptr;
  std::vector<ProgramId> programs_;
};

}  // namespace novaphy::semi_implicit
