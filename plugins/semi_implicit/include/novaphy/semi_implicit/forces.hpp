// SPDX-License-Identifier: Apache-2.0
// The forces of other plugins (novaphy/force.hpp) that a solver was given by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "novaphy/force.hpp"

namespace novaphy::semi_implicit {

/// One force of a solver: what it is, and where its arrays are.
struct GivenForce {
  std::string name, plugin;
  IForce* force = nullptr;
  ForceDescription description;
  std::vector<ForceInput> inputs;
  std::vector<const DeviceArray*>
      fixed;  ///< of each input: an array of the model that stays where it is, or null
  const DeviceArray* corners = nullptr;  ///< the model's indices; null where rows are particles
  int corner_count = 1;

  /// Rows of the force in this model.
  std::int64_t rows(const Model& model) const { return model.rows_of(description.rows); }
  /// The array behind input k, as packed rows: (1, width) for the one row of frequency `once`.
  NOVAPHY_API DeviceArray array(std::size_t k, const Model& model, const SimState& state) const;
};

/// Forces in the order in which they are added. Named forces are looked up, and their arrays added to the
/// model.
class NOVAPHY_API Forces {
 public:
  Forces() = default;
  /// Throws Error(plugin_not_available) for a name that no module publishes, with the nearest one and all,
  /// Error(value) for one that is given twice or describes itself wrongly, and for an array that the model
  /// has otherwise. `who` begins the messages.
  Forces(Model& model, const std::vector<std::string>& names, const char* who);

  bool empty() const noexcept { return forces_.empty(); }
  std::span<const GivenForce> all() const noexcept { return forces_; }
  /// Adds every force to `total` [N], a row for each particle, in order; each force row by row, corner by
  /// corner. Rows are evaluated by the task pool, `grain` a task; the sums do not depend on it.
  void add_to(std::span<Vec3f> total, const Model& model, const SimState& state, std::int64_t grain);
  /// Throws Error(attribute) for a state that lacks an array of a force. `who` begins the message.
  void check_state(const char* who, const char* which, const SimState& state) const;
  /// Arrays of states that belong to forces, "time" among them.
  std::span<const std::string> state_arrays() const noexcept { return state_arrays_; }
  /// Carries those arrays to the next state, and time by dt [s].
  void carry_over(const SimState& state_in, SimState& state_out, float dt) const;

 private:
  std::vector<GivenForce> forces_;
  std::vector<std::string> state_arrays_;
  std::vector<float> rows_;  // of a force on elements, before they are added
};

inline constexpr const char* kTimeArray = "time";

}  // namespace novaphy::semi_implicit
