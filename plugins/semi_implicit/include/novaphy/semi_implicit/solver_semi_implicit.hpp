// SPDX-License-Identifier: Apache-2.0
// SolverSemiImplicit: one semi-implicit Euler step a call, forward only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "novaphy/collision/one_thread.hpp"
#include "novaphy/semi_implicit/forces.hpp"
#include "novaphy/semi_implicit/particle_contacts.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "novaphy/semi_implicit/step_watch.hpp"
#include "novaphy/semi_implicit/touching_pairs.hpp"
#include "novaphy/solver.hpp"

namespace novaphy {

/// Options of SolverSemiImplicit. Those of bodies, joints and triangles are read by the parts of the step
/// that act on them.
struct SemiImplicitConfig {
  float angular_damping = 0.05f;              ///< 1/s
  std::optional<float> friction_smoothing{};  ///< m/s; empty = Newton 1.8's law of rigid friction
  std::optional<std::string> friction_law{};  ///< "newton1.7", or empty
  float joint_attach_ke = 1e4f;               ///< N/m
  float joint_attach_kd = 100.0f;             ///< N s/m
  bool enable_tri_contact = true;  ///< particles are pushed out of triangles that they do not belong to
  bool check_stability = true;  ///< before the first step with a dt: a warning where stability_report() finds it too long
  bool check_finite = true;     ///< after each step: an error that names the first particle that is not finite
  std::vector<std::string>
      forces{};  ///< of other plugins (novaphy/force.hpp), by name, in the order of addition
};

/// Throws Error(value) for a friction law that does not exist, a smoothing that is not positive, or a damping
/// or stiffness that is negative. `who` begins the message.
NOVAPHY_API void check_config(const SemiImplicitConfig& config, const char* who);

/// Steps particles. Forces are summed in this order: external ones, springs, triangles, bending edges,
/// tetrahedra, contact between particles, of particles with triangles, with shapes in the order of the
/// records, those of other plugins in the order of config.forces; then gravity of the particle's world and the integration. Activations are those of
/// `control`, or of the model where there is none. An inactive particle keeps position and velocity. Bodies
/// must be kinematic: they keep their pose and twist, and carry shapes. The step may be done in place
/// (state_in is state_out).
class NOVAPHY_API SolverSemiImplicit final : public ISolver {
 public:
  /// Throws Error(unsupported_feature) with everything in the model that this solver does not step, and as
  /// semi_implicit::Forces. Adds the arrays of the forces to the model.
  explicit SolverSemiImplicit(std::shared_ptr<Model> model, const SemiImplicitConfig& config = {});
  ~SolverSemiImplicit() override;

  void step(SimState& state_in, SimState& state_out, const Control* control, const Contacts* contacts,
            float dt) override;
  const char* name() const noexcept override { return "semi_implicit"; }
  std::shared_ptr<Model> model() const noexcept override { return model_; }

  const SemiImplicitConfig& config() const noexcept { return config_; }
  /// Particles a task. Results do not depend on it.
  void set_grain(std::int64_t particles) { grain_ = particles; }

 private:
  void check_model();
  void check_materials();
  void step_particles(SimState& state_in, SimState& state_out, const Control* control,
                      const Contacts* contacts, float dt);

  std::shared_ptr<Model> model_;
  SemiImplicitConfig config_;
  semi_implicit::Forces forces_;
  collision::OneThread one_thread_;
  semi_implicit::CheckedModel checked_;
  semi_implicit::CheckedModel checked_materials_{semi_implicit::CheckedModel::Reads::materials};
  std::vector<Vec3f> corner_forces_;  // of one kind of elements, before they are added
  ParticleContacts contacts_by_particle_;
  semi_implicit::TouchingPairs pairs_;
  std::int64_t grain_ = 512;
  semi_implicit::StepWatch watch_;
};

}  // namespace novaphy
