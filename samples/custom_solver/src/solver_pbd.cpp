// SPDX-License-Identifier: Apache-2.0
// One step: free flight, then sweeps that move the ends of each spring to where its
// length is right, and particles out of shapes.
#include "acme_pbd/solver_pbd.hpp"

#include <cmath>
#include <cstddef>

#include "novaphy/capture.hpp"
#include "novaphy/error.hpp"
#include "novaphy/json_options.hpp"

namespace acme {

using novaphy::ErrorKind;
using novaphy::Vec3f;

namespace {

void check_config(const PbdConfig& config) {
  NOVAPHY_REQUIRE(config.iterations >= 1 && config.iterations <= 1000, ErrorKind::value, "SolverPBD: iterations is ",
                  config.iterations, "; give a number from 1 to 1000");
  NOVAPHY_REQUIRE(config.damping >= 0.0f && std::isfinite(config.damping), ErrorKind::value, "SolverPBD: damping is ",
                  config.damping, "; give a rate of at least 0, in 1/s");
}

void check_model(const novaphy::Model& model) {
  const struct {
    const char* name;
    int count;
  } unstepped[] = {{"triangles", model.tri_count},   {"bending edges", model.edge_count},
                   {"tetrahedra", model.tet_count},  {"muscles", model.muscle_count},
                   {"bodies", model.body_count},     {"joints", model.joint_count}};
  for (const auto& [name, count] : unstepped)
    NOVAPHY_REQUIRE(count == 0, ErrorKind::unsupported_feature, "SolverPBD: the model has ", count, " ", name,
                    ", which this solver does not step; it steps particles and springs");
}

}  // namespace

const char* stiffness_name(bool rigid) {
  return rigid ? "rigid" : "springs";
}

bool is_rigid(std::string_view stiffness) {
  NOVAPHY_REQUIRE(stiffness == "rigid" || stiffness == "springs", ErrorKind::value, "SolverPBD: stiffness is '",
                  stiffness, "'; give 'rigid' or 'springs'");
  return stiffness == "rigid";
}

PbdConfig read_config(std::string_view json, const PbdConfig& defaults) {
  PbdConfig config = defaults;
  std::string stiffness = stiffness_name(config.rigid);
  novaphy::JsonOptions options(json, "SolverPBD");
  options.read("iterations", config.iterations);
  options.read("stiffness", stiffness);
  options.read("damping", config.damping);
  options.finish();
  config.rigid = is_rigid(stiffness);
  return config;
}

SolverPBD::SolverPBD(std::shared_ptr<novaphy::Model> model, const PbdConfig& config)
    : model_(std::move(model)), config_(config) {
  check_config(config_);
  check_model(*model_);
  const auto particles = static_cast<std::size_t>(model_->particle_count);
  start_.resize(particles), moved_.resize(particles), free_velocity_.resize(particles), weight_.resize(particles);
  multiplier_.resize(static_cast<std::size_t>(model_->spring_count));
}

SolverPBD::~SolverPBD() = default;

void SolverPBD::step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control*,
                     const novaphy::Contacts* contacts, float dt) {
  novaphy::refuse_in_capture("SolverPBD.step (supports_graph_capture is False)");
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, "SolverPBD.step: dt is ", dt,
                  "; give a positive time in s");
  NOVAPHY_REQUIRE(contacts == nullptr || contacts->particle_count == model_->particle_count, ErrorKind::shape_mismatch,
                  "SolverPBD.step: contacts were made for another model; take them from a pipeline of this one");
  for (const novaphy::SimState* state : {&state_in, &state_out})
    NOVAPHY_REQUIRE(state->particle_count() == model_->particle_count, ErrorKind::shape_mismatch,
                    "SolverPBD.step: a state has ", state->particle_count(), " particles, the model has ",
                    model_->particle_count, "; take it from this model's state()");
  predict(state_in, dt);
  multiplier_.assign(multiplier_.size(), 0.0f);
  for (std::int32_t sweep = 0; sweep < config_.iterations; ++sweep) {
    project_springs(dt);
    if (contacts != nullptr) project_contacts(*contacts);
  }
  finish(state_in, state_out, dt);
  // a tape that is open on this thread then refuses to take these values for constants
  for (novaphy::DeviceArray* array : {&state_out.particle_q, &state_out.particle_qd, &state_in.particle_f})
    array->join_open_recording();
}

void SolverPBD::predict(const novaphy::SimState& state_in, float dt) {
  const auto q = state_in.particle_q.read<Vec3f>(), qd = state_in.particle_qd.read<Vec3f>(),
             force = state_in.particle_f.read<Vec3f>(), gravity = model_->gravity.read<Vec3f>();
  const auto inverse_mass = model_->particle_inv_mass.read<float>();
  const auto flags = model_->particle_flags.read<std::int32_t>(), world = model_->particle_world.read<std::int32_t>();
  for (std::size_t p = 0; p < q.size(); ++p) {
    const bool active = (flags[p] & novaphy::ParticleFlags::ACTIVE) != 0;
    weight_[p] = active ? inverse_mass[p] : 0.0f;
    start_[p] = q[p];
    free_velocity_[p] = qd[p];
    if (weight_[p] > 0.0f) {
      const Vec3f& fall = gravity[world[p] < 0 ? 0 : static_cast<std::size_t>(world[p])];
      free_velocity_[p] = qd[p] + (force[p] * weight_[p] + fall) * dt;
    }
    moved_[p] = active ? free_velocity_[p] * dt : Vec3f{0.0f, 0.0f, 0.0f};  // what is fixed moves as its velocity says
  }
}

void SolverPBD::project_springs(float dt) {
  const auto ends = model_->spring_indices.read<std::int32_t>();
  const auto rest = model_->spring_rest_length.read<float>(), stiffness = model_->spring_stiffness.read<float>();
  for (std::size_t s = 0; s < rest.size(); ++s) {
    const auto i = static_cast<std::size_t>(ends[2 * s]), j = static_cast<std::size_t>(ends[2 * s + 1]);
    const float compliance = config_.rigid ? 0.0f : 1.0f / (stiffness[s] * dt * dt);
    const Vec3f between = (start_[i] - start_[j]) + (moved_[i] - moved_[j]);
    const float length = novaphy::length(between), weights = weight_[i] + weight_[j] + compliance;
    if (weights == 0.0f || length == 0.0f || !std::isfinite(compliance)) continue;
    // equation 18 of the paper
    const float change = -(length - rest[s] + compliance * multiplier_[s]) / weights;
    multiplier_[s] += change;
    const Vec3f pull = between * (change / length);
    moved_[i] = moved_[i] + pull * weight_[i];
    moved_[j] = moved_[j] - pull * weight_[j];
  }
}

void SolverPBD::project_contacts(const novaphy::Contacts& contacts) {
  const auto particle = contacts.soft_contact_particle.read<std::int32_t>();
  const auto point = contacts.soft_contact_body_pos.read<Vec3f>(), normal = contacts.soft_contact_normal.read<Vec3f>();
  const auto radius = model_->particle_radius.read<float>();
  for (std::size_t k = 0; k < static_cast<std::size_t>(contacts.soft_contacts_used()); ++k) {
    const auto p = static_cast<std::size_t>(particle[k]);
    const float gap = novaphy::dot(start_[p] + moved_[p] - point[k], normal[k]) - radius[p];
    if (gap < 0.0f && weight_[p] > 0.0f) moved_[p] = moved_[p] - normal[k] * gap;
  }
}

void SolverPBD::finish(novaphy::SimState& state_in, novaphy::SimState& state_out, float dt) {
  const auto total = state_in.particle_f.write<Vec3f>(), q = state_out.particle_q.write<Vec3f>(),
             qd = state_out.particle_qd.write<Vec3f>();
  const float kept = 1.0f / (1.0f + config_.damping * dt);
  for (std::size_t p = 0; p < q.size(); ++p) {
    q[p] = start_[p] + moved_[p];
    qd[p] = free_velocity_[p];
    if (weight_[p] == 0.0f) continue;
    qd[p] = moved_[p] * (kept / dt);
    total[p] = total[p] + (qd[p] - free_velocity_[p]) * (1.0f / (weight_[p] * dt));  // of all but free flight
  }
}

}  // namespace acme
