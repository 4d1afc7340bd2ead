// SPDX-License-Identifier: Apache-2.0
// Time integration as an interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "novaphy/model.hpp"
#include "novaphy/plugin_object.hpp"

namespace novaphy {

/// Advances a model by one step. One thread a solver.
class NOVAPHY_API ISolver : public PluginObject {
 public:
  ~ISolver() override;
  /// state_out = state_in advanced by dt [s]. `control` and `contacts` may be null. Forces in state_in are external forces;
  /// on return they hold the total force that acted. Throws Error(value) for dt <= 0 and Error(shape_mismatch) for a state
  /// of another model.
  virtual void step(SimState& state_in, SimState& state_out, const Control* control, const Contacts* contacts, float dt) = 0;
  virtual const char* name() const noexcept = 0;
  virtual std::shared_ptr<Model> model() const noexcept = 0;
  virtual bool supports_graph_capture() const noexcept { return false; }
  /// The caller changed numbers in the model.
  virtual void notify_model_changed() {}
};

/// Whose derivative a solver's gradient is.
enum class Differentiability : int { none = 0, exact, surrogate, frozen };

/// What a kind of solver steps, for lists and checks before one is made.
struct SolverTraits {
  std::string summary;
  bool particles = false, bodies = false, articulations = false;
  Differentiability differentiable = Differentiability::none;
};

/// Makes solvers of one kind. Any thread.
class NOVAPHY_API ISolverFactory {
 public:
  static constexpr const char* kId = "novaphy.ISolverFactory/1";
  virtual ~ISolverFactory();
  virtual SolverTraits traits() const = 0;
  /// `config_json`: a JSON object with the solver's options, "" = defaults. Throws Error(unsupported_feature) with the list of
  /// elements of the model that the solver does not step.
  virtual std::unique_ptr<ISolver> create(std::shared_ptr<Model> model, std::string_view config_json) = 0;
};

}  // namespace novaphy
