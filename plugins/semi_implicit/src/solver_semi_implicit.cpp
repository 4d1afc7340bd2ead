// SPDX-License-Identifier: Apache-2.0
// The forward step: forces of elements, contact forces particle by particle, forces of other plugins,
// integration.
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"

#include <algorithm>

#include "novaphy/collision/formula/carried_contact.h"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/error.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "novaphy/task_pool.hpp"
#include "src/element_forces.hpp"
#include "src/integration.hpp"
#include "src/pair_forces.hpp"

namespace novaphy {

namespace {

using collision::formula::SoftContactMaterial;

/// Read-only views of everything that the contact force of a particle depends on.
struct ContactScene {
  explicit ContactScene(const Model& model, const SimState& state, const Contacts& contacts)
      : shape(contacts.soft_contact_shape.read<std::int32_t>()),
        point(contacts.soft_contact_body_pos.read<Vec3f>()),
        velocity(contacts.soft_contact_body_vel.read<Vec3f>()),
        normal(contacts.soft_contact_normal.read<Vec3f>()),
        shape_body(model.shape_body.read<std::int32_t>()),
        ke(model.shape_material_ke.read<float>()),
        kd(model.shape_material_kd.read<float>()),
        kf(model.shape_material_kf.read<float>()),
        mu(model.shape_material_mu.read<float>()),
        body_q(state.body_q.read<Transformf>()),
        body_qd(state.body_qd.read<Spatialf>()),
        body_com(model.body_com.read<Vec3f>()),
        adhesion(model.particle_contact_material.read<float>()[5]) {
    const auto soft = model.soft_contact_material.read<float>();
    model_material = {soft[0], soft[1], soft[2], soft[3]};
  }

  /// What record `k` takes from a particle at x with velocity v; zero out of contact.
  Vec3f force(std::size_t k, const Vec3f& x, const Vec3f& v, float radius) const {
    const auto s = static_cast<std::size_t>(shape[k]);
    Vec3f contact_point = point[k], surface_velocity{0.0f, 0.0f, 0.0f};
    if (shape_body[s] >= 0)
      move_with_body(static_cast<std::size_t>(shape_body[s]), k, contact_point, surface_velocity);
    const float gap = collision::formula::soft_contact_gap(x, radius, contact_point, normal[k]);
    if (gap > adhesion) return {0.0f, 0.0f, 0.0f};
    const auto material =
        collision::formula::mix(model_material, SoftContactMaterial<float>{ke[s], kd[s], kf[s], mu[s]});
    return collision::formula::soft_contact_force(gap, normal[k], v - surface_velocity, material);
  }

  std::span<const std::int32_t> shape;
  std::span<const Vec3f> point, velocity, normal;
  std::span<const std::int32_t> shape_body;
  std::span<const float> ke, kd, kf, mu;
  std::span<const Transformf> body_q;
  std::span<const Spatialf> body_qd;
  std::span<const Vec3f> body_com;
  SoftContactMaterial<float> model_material{};
  float adhesion;

 private:
  void move_with_body(std::size_t body, std::size_t k, Vec3f& contact_point, Vec3f& surface_velocity) const {
    const auto moved = collision::formula::carried_contact(body_q[body], body_qd[body], body_com[body],
                                                           point[k], velocity[k]);
    contact_point = moved.point, surface_velocity = moved.velocity;
  }
};

}  // namespace

void check_config(const SemiImplicitConfig& config, const char* who) {
  NOVAPHY_REQUIRE(config.angular_damping >= 0.0f, ErrorKind::value, who, ": angular_damping is ",
                  config.angular_damping, "; give a number of at least 0");
  NOVAPHY_REQUIRE(!config.friction_smoothing || *config.friction_smoothing > 0.0f, ErrorKind::value, who,
                  ": friction_smoothing is ", config.friction_smoothing.value_or(0.0f),
                  "; give a positive speed in m/s, or None");
  NOVAPHY_REQUIRE(!config.friction_law || *config.friction_law == "newton1.7", ErrorKind::value, who,
                  ": there is no friction_law '", config.friction_law.value_or(""),
                  "'; give 'newton1.7' or None");
  NOVAPHY_REQUIRE(config.joint_attach_ke >= 0.0f && config.joint_attach_kd >= 0.0f, ErrorKind::value, who,
                  ": joint_attach_ke is ", config.joint_attach_ke, " and joint_attach_kd is ",
                  config.joint_attach_kd, "; give numbers of at least 0");
}

SolverSemiImplicit::SolverSemiImplicit(std::shared_ptr<Model> model, const SemiImplicitConfig& config)
    : model_(std::move(model)), config_(config) {
  check_config(config_, "SolverSemiImplicit");
  forces_ = semi_implicit::Forces(*model_, config_.forces, "SolverSemiImplicit");
  check_model();
}

SolverSemiImplicit::~SolverSemiImplicit() = default;

void SolverSemiImplicit::check_model() {
  if (checked_.is_current(*model_)) return;
  const auto unstepped = semi_implicit::unstepped_elements(*model_);
  NOVAPHY_REQUIRE(unstepped.empty(), ErrorKind::unsupported_feature, "SolverSemiImplicit: the model has ",
                  semi_implicit::listed(unstepped),
                  ", which this solver does not step; it steps particles, springs, triangles, "
                  "bending edges and tetrahedra");
  semi_implicit::check_owners("SolverSemiImplicit", *model_);
  checked_.note(*model_);
}

void SolverSemiImplicit::check_materials() {
  if (checked_materials_.is_current(*model_)) return;
  semi_implicit::check_materials("SolverSemiImplicit.step", *model_);
  checked_materials_.note(*model_);
}

void SolverSemiImplicit::step(SimState& state_in, SimState& state_out, const Control* control,
                              const Contacts* contacts, float dt) {
  refuse_in_capture("SolverSemiImplicit.step (supports_graph_capture is False)");
  const collision::OneThread::Entry entry(one_thread_, "SolverSemiImplicit.step", "solver");
  check_model();
  check_materials();
  semi_implicit::check_step("SolverSemiImplicit.step", *model_, state_in, state_out, contacts, dt);
  if (config_.check_stability) watch_.before_step("SolverSemiImplicit.step", *model_, state_in, dt, contacts != nullptr);
  if (!forces_.empty()) {
    forces_.check_state("SolverSemiImplicit.step", "state_in", state_in);
    forces_.check_state("SolverSemiImplicit.step", "state_out", state_out);
  }
  if (model_->particle_count > 0) {
    step_particles(state_in, state_out, control, contacts, dt);
    watch_.after_step("SolverSemiImplicit.step", *model_, state_in, state_out, dt, config_.check_finite);
    for (DeviceArray* array : {&state_out.particle_q, &state_out.particle_qd, &state_in.particle_f})
      array->join_open_recording();
  }
  semi_implicit::carry_over(state_in, state_out);
  if (!forces_.empty()) forces_.carry_over(state_in, state_out, dt);
}

void SolverSemiImplicit::step_particles(SimState& state_in, SimState& state_out, const Control* control,
                                        const Contacts* contacts, float dt) {
  std::optional<ContactScene> scene;
  if (contacts != nullptr && contacts->soft_contacts_used() > 0) {
    contacts_by_particle_.update(*contacts);
    scene.emplace(*model_, state_in, *contacts);
  }
  const auto elements = semi_implicit::element_rows(
      *model_, state_in, semi_implicit::activations_of("SolverSemiImplicit.step", *model_, control));
  const bool has_elements = std::ranges::any_of(elements, [](const auto& kind) { return kind.rows > 0; });
  pairs_.find_for_step("SolverSemiImplicit", *model_, state_in.particle_q.read<Vec3f>(),
                       config_.enable_tri_contact);
  const bool sums = scene || !pairs_.empty() || !forces_.empty() || has_elements;
  const auto total = sums ? state_in.particle_f.write<Vec3f>() : std::span<Vec3f>{};
  const auto radius = model_->particle_radius.read<float>();
  const semi_implicit::IntegrationRows rows{.q = state_in.particle_q.read<Vec3f>(),
                                            .qd = state_in.particle_qd.read<Vec3f>(),
                                            .f = state_in.particle_f.read<Vec3f>(),
                                            .flags = model_->particle_flags.read<std::int32_t>(),
                                            .inv_mass = model_->particle_inv_mass.read<float>(),
                                            .gravity = model_->gravity.read<Vec3f>(),
                                            .world = model_->particle_world.read<std::int32_t>(),
                                            .max_velocity = model_->particle_max_velocity,
                                            .dt = dt,
                                            .q_out = state_out.particle_q.write<Vec3f>(),
                                            .qd_out = state_out.particle_qd.write<Vec3f>()};

  for (const auto& kind : elements) semi_implicit::add_element_forces(kind, total, grain_, corner_forces_);
  if (!pairs_.empty()) semi_implicit::add_pair_forces(*model_, pairs_, rows.q, rows.qd, total);
  const auto add_contacts = [&](std::int64_t begin, std::int64_t end) {
    for (auto p = static_cast<std::size_t>(begin); scene && p < static_cast<std::size_t>(end); ++p) {
      if ((rows.flags[p] & ParticleFlags::ACTIVE) == 0) continue;
      for (const std::int32_t k : contacts_by_particle_.of(p))
        total[p] = total[p] - scene->force(static_cast<std::size_t>(k), rows.q[p], rows.qd[p], radius[p]);
    }
  };
  if (!forces_.empty()) {
    parallel_for(model_->particle_count, grain_, add_contacts);
    forces_.add_to(total, *model_, state_in, grain_);
  }
  parallel_for(model_->particle_count, grain_, [&](std::int64_t begin, std::int64_t end) {
    if (forces_.empty()) add_contacts(begin, end);
    semi_implicit::integrate(rows, begin, end);
  });
}

}  // namespace novaphy
