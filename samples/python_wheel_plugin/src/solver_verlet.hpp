// SPDX-License-Identifier: Apache-2.0
// SolverVerlet: particles under gravity and external forces by velocity Verlet.
#pragma once

#include <memory>

#include "novaphy/solver.hpp"

namespace acme {

/// x + v dt + a dt^2 / 2: exact for forces that do not change. A step may be done in place.
class NOVAPHY_API SolverVerlet final : public novaphy::ISolver {
 public:
  /// Throws Error(unsupported_feature) for a model that holds anything but particles and shapes.
  explicit SolverVerlet(std::shared_ptr<novaphy::Model> model);
  ~SolverVerlet() override;

  /// Contacts are ignored.
  void step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control* control,
            const novaphy::Contacts* contacts, float dt) override;
  const char* name() const noexcept override { return "acme_verlet"; }
  std::shared_ptr<novaphy::Model> model() const noexcept override { return model_; }

 private:
  std::shared_ptr<novaphy::Model> model_;
};

}  // namespace acme
