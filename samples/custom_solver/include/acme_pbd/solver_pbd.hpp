// SPDX-License-Identifier: Apache-2.0
// SolverPBD: particles by extended position-based dynamics (Macklin et al. 2016), springs as distance constraints.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "novaphy/math.hpp"
#include "novaphy/solver.hpp"

namespace acme {

/// Options of SolverPBD; the plugin's manifest documents and limits them.
struct PbdConfig {
  std::int32_t iterations = 20;
  bool rigid = true;      ///< springs keep their rest lengths, whatever their stiffness
  float damping = 0.0f;   ///< 1/s
};

/// "rigid" or "springs", and back. Throws Error(value) for any other text.
NOVAPHY_API const char* stiffness_name(bool rigid);
NOVAPHY_API bool is_rigid(std::string_view stiffness);

/// The plugin's options as the host configured them.
NOVAPHY_API const PbdConfig& configured();
/// `json`, an object with any of the plugin's options, over `defaults`. Throws Error(value) or Error(parse).
NOVAPHY_API PbdConfig read_config(std::string_view json, const PbdConfig& defaults);

/// Steps particles and springs, in the order of springs and contacts, so that results depend on nothing else. A step may be
/// done in place.
class NOVAPHY_API SolverPBD final : public novaphy::ISolver {
 public:
  /// Throws Error(unsupported_feature) for a model that holds anything but particles, springs and fixed shapes, and
  /// Error(value) for an option out of range.
  explicit SolverPBD(std::shared_ptr<novaphy::Model> model, const PbdConfig& config = configured());
  ~SolverPBD() override;

  /// Contacts without friction keep particles out of the fixed shapes; null = no contacts.
  void step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control* control,
            const novaphy::Contacts* contacts, float dt) override;
  const char* name() const noexcept override { return "acme_pbd"; }
  std::shared_ptr<novaphy::Model> model() const noexcept override { return model_; }
  const PbdConfig& config() const noexcept { return config_; }

 private:
  void predict(const novaphy::SimState& state_in, float dt);
  void project_springs(float dt);
  void project_contacts(const novaphy::Contacts& contacts);
  void finish(novaphy::SimState& state_in, novaphy::SimState& state_out, float dt);

  std::shared_ptr<novaphy::Model> model_;
  PbdConfig config_;
  // of the present step: where particles start and how far they move (apart, since their sum would round the small
  // one), free velocities, multipliers, weights (1/kg)
  std::vector<novaphy::Vec3f> start_, moved_, free_velocity_;
  std::vector<float> multiplier_, weight_;
};

}  // namespace acme
