// SPDX-License-Identifier: Apache-2.0
@file solver@
// Solver@Name@: particles under gravity, external forces and the drag of air, by semi-implicit Euler.
#pragma once

#include <memory>

#include "@name@/options.hpp"
#include "novaphy/solver.hpp"

namespace @name@ {

/// Steps particles alone. A step may be done in place.
class NOVAPHY_API Solver@Name@ final : public novaphy::ISolver {
 public:
  /// Throws novaphy::Error(unsupported_feature) for a model that holds anything else to step.
  explicit Solver@Name@(std::shared_ptr<novaphy::Model> model, const Options& options = configured());
  ~Solver@Name@() override;

  /// `contacts` must be null or without records: this solver has none.
  void step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control* control,
            const novaphy::Contacts* contacts, float dt) override;
  const char* name() const noexcept override { return "@name@"; }
  std::shared_ptr<novaphy::Model> model() const noexcept override { return model_; }
  const Options& options() const noexcept { return options_; }

 private:
  std::shared_ptr<novaphy::Model> model_;
  Options options_;
};

}  // namespace @name@
