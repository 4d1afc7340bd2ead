// SPDX-License-Identifier: Apache-2.0
// DiffSemiImplicitSolver: the step of SolverSemiImplicit from generated kernels, so that a tape can
// differentiate it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "novaphy/collision/one_thread.hpp"
#include "novaphy/semi_implicit/particle_contacts.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "novaphy/semi_implicit/step_watch.hpp"
#include "novaphy/solver.hpp"

namespace novaphy {

/// What DiffSemiImplicitSolver steps. A part that is switched off is left as it is, without an error.
struct DiffSolverConfig {
  float angular_damping = 0.05f;              ///< of bodies, 1/s
  std::optional<float> friction_smoothing{};  ///< m/s; empty = Newton 1.8's law of rigid friction
  std::optional<std::string> friction_law{};  ///< "newton1.7", or empty
  /// Above 0, a step that is given no Contacts finds the contacts of shapes of the world itself, within
  /// this margin [m], and differentiates their point and normal too. At 0 such a step has no contacts.
  float soft_contact_margin = 0.0f;
  bool enable_particles = true, enable_tetrahedra = true, enable_triangles = true, enable_contacts = true;
  bool enable_rigid = true;
  bool enable_tri_contact = true;  ///< particles are pushed out of triangles that they do not belong to
  bool strict = true;  ///< false: what cannot be stepped is skipped, and logged once
  bool check_stability = true, check_finite = true;  ///< as in SemiImplicitConfig
  std::vector<std::string>
      forces{};  ///< of other plugins (novaphy/force.hpp), by name, in the order of addition
};

/// A kernel for each kind of elements, one for contacts and one for the integration, recorded on this
/// thread's open tape; without a tape they run alone. Results equal SolverSemiImplicit's to the bit.
/// Gradients reach the start state, the external forces (state_particle_f_tensor(state_in): the force at call
/// time, although state_in holds the total force afterwards), particle_inv_mass, particle_radius, gravity,
/// shape_material_ke, kd, kf, mu and soft_contact_material, the materials, rest shapes and activations of
/// springs, triangles, bending edges and tetrahedra, body_q and body_qd of kinematic bodies that carry
/// shapes, and whatever the forces of other plugins read. Records of a collide() inside the recording are
/// differentiated through: point and normal depend on the positions, poses and sizes that they were found
/// with. Those of a collide() outside are constants. Contacts may be collided anew before every step. Throws
/// Error(stale_record) when records, or what they were found with, were overwritten between such a collide()
/// and the step.
class NOVAPHY_API DiffSemiImplicitSolver final : public ISolver {
 public:
  /// Throws Error(unsupported_feature) with everything in the model that it cannot step, unless `strict` is
  /// off, and for a force that brings no program, so has no gradient. Throws also as semi_implicit::Forces,
  /// and adds the arrays of the forces to the model.
  explicit DiffSemiImplicitSolver(std::shared_ptr<Model> model, const DiffSolverConfig& config = {});
  ~DiffSemiImplicitSolver() override;

  /// state_in.particle_f then holds the total force, which is recorded as well. Throws also Error(value) when
  /// a tape is open and both states are the same object.
  void step(SimState& state_in, SimState& state_out, const Control* control, const Contacts* contacts,
            float dt) override;
  const char* name() const noexcept override { return "semi_implicit_diff"; }
  std::shared_ptr<Model> model() const noexcept override { return model_; }

  const DiffSolverConfig& config() const noexcept { return config_; }
  /// What `strict = false` left out: "8 springs"; empty = nothing.
  const std::vector<std::string>& skipped() const noexcept { return skipped_; }
  /// On: steps are not recorded even while a tape is open.
  bool forward_only = false;

 private:
  struct Kept;
  void skip_or_refuse();
  void check_materials();
  void step_particles(SimState& state_in, SimState& state_out, const Control* control,
                      const Contacts* contacts, float dt);
  /// The total force, which state_in.particle_f holds too on return; that array itself where nothing is
  /// added.
  const DeviceArray& total_force(SimState& state_in, const Control* control, const Contacts* contacts);
  /// A copy of the external force in memory of the step's own, to add to.
  DeviceArray& begin_total(const DeviceArray& external);
  /// The external force less the forces of elements; null where there are none.
  DeviceArray* add_elements(SimState& state_in, const Control* control);
  /// Adds the forces of particles on each other and on triangles to `total`, which begins where it is null.
  DeviceArray* add_pairs(const SimState& state_in, DeviceArray* total);
  /// `total` (null = the external force) less contact forces, which state_in.particle_f holds too; null where
  /// there is no contact.
  DeviceArray* add_contacts(SimState& state_in, const Contacts* contacts, DeviceArray* total);

  std::shared_ptr<Model> model_;
  DiffSolverConfig config_;
  collision::OneThread one_thread_;
  semi_implicit::CheckedModel checked_;
  semi_implicit::CheckedModel checked_materials_{semi_implicit::CheckedModel::Reads::materials};
  SeenRecords ordered_;
  std::vector<std::string> skipped_;
  bool skips_carried_shapes_ = false;
  semi_implicit::StepWatch watch_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace novaphy
