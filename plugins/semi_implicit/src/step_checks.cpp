// SPDX-License-Identifier: Apache-2.0
// Checks of the model at construction and of the arguments at each step.
#include "novaphy/semi_implicit/step_checks.hpp"

#include <algorithm>
#include <cmath>

#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

namespace {

int dynamic_bodies(const Model& model) {
  const auto flags = model.body_flags.read<std::int32_t>();
  return static_cast<int>(std::count_if(flags.begin(), flags.end(),
                                        [](std::int32_t f) { return (f & BodyFlags::KINEMATIC) == 0; }));
}

void check_state(const char* who, const char* which, const Model& model, const SimState& state) {
  NOVAPHY_REQUIRE(state.particle_count() == model.particle_count && state.body_count() == model.body_count,
                  ErrorKind::shape_mismatch, who, ": ", which, " has ", state.particle_count(), " particles and ",
                  state.body_count(), " bodies, the model has ", model.particle_count, " and ", model.body_count,
                  "; take it from this model's state()");
}

}  // namespace

std::vector<std::string> unstepped_elements(const Model& model) {
  std::vector<std::string> parts;
  const auto add = [&](int count, const char* one, const char* many) {
    if (count > 0) parts.push_back(text(count, " ", count == 1 ? one : many));
  };
  add(model.spring_count, "spring", "springs");
  add(model.tri_count, "triangle", "triangles");
  add(model.edge_count, "bending edge", "bending edges");
  add(model.tet_count, "tetrahedron", "tetrahedra");
  add(model.muscle_count, "muscle", "muscles");
  add(dynamic_bodies(model), "dynamic body", "dynamic bodies");
  add(model.joint_count, "joint", "joints");
  return parts;
}

std::string listed(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

void check_step(const char* who, const Model& model, const SimState& state_in, const SimState& state_out,
                const Contacts* contacts, float dt) {
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, who, ": dt is ", dt, "; give a positive time in s");
  check_state(who, "state_in", model, state_in);
  check_state(who, "state_out", model, state_out);
  NOVAPHY_REQUIRE(contacts == nullptr ||
                      (contacts->particle_count == model.particle_count && contacts->shape_count == model.shape_count),
                  ErrorKind::shape_mismatch, who, ": contacts were made for ", contacts->particle_count, " particles and ",
                  contacts->shape_count, " shapes, the model has ", model.particle_count, " and ", model.shape_count,
                  "; take them from a pipeline of this model");
}

void carry_over(const SimState& state_in, SimState& state_out) {
  if (&state_in == &state_out) return;
  if (state_in.body_q.rows() > 0) {
    state_out.body_q.copy_from(state_in.body_q);
    state_out.body_qd.copy_from(state_in.body_qd);
  }
  if (state_in.joint_q.rows() > 0) state_out.joint_q.copy_from(state_in.joint_q);
  if (state_in.joint_qd.rows() > 0) state_out.joint_qd.copy_from(state_in.joint_qd);
}

}  // namespace novaphy::semi_implicit
