// SPDX-License-Identifier: Apache-2.0
// Checks of the model at construction and of the arguments at each step.
#include "novaphy/semi_implicit/step_checks.hpp"

#include <algorithm>
#include <cmath>

#include "novaphy/collision/soft_contact_generator.hpp"
#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

namespace {

int dynamic_bodies(const Model& model) {
  const auto flags = model.body_flags.read<std::int32_t>();
  return static_cast<int>(std::count_if(flags.begin(), flags.end(),
                                        [](std::int32_t f) { return (f & BodyFlags::KINEMATIC) == 0; }));
}

bool is_dynamic(const Model& model, std::int32_t body) {
  const auto flags = model.body_flags.read<std::int32_t>();
  return (flags[static_cast<std::size_t>(body)] & BodyFlags::KINEMATIC) == 0;
}

constexpr DeviceArray Model::*kReadByChecks[] = {&Model::body_flags, &Model::shape_flags, &Model::shape_type,
                                                 &Model::shape_body, &Model::particle_world};

void check_state(const char* who, const char* which, const Model& model, const SimState& state) {
  NOVAPHY_REQUIRE(state.particle_count() == model.particle_count && state.body_count() == model.body_count,
                  ErrorKind::shape_mismatch, who, ": ", which, " has ", state.particle_count(),
                  " particles and ", state.body_count(), " bodies, the model has ", model.particle_count,
                  " and ", model.body_count, "; take it from this model's state()");
}

}  // namespace

std::vector<Unstepped> unstepped_elements(const Model& model) {
  std::vector<Unstepped> parts{{Element::spring, model.spring_count}, {Element::triangle, model.tri_count},
                               {Element::edge, model.edge_count},     {Element::tetrahedron, model.tet_count},
                               {Element::muscle, model.muscle_count}, {Element::body, dynamic_bodies(model)},
                               {Element::joint, model.joint_count}};
  std::erase_if(parts, [](const Unstepped& part) { return part.count == 0; });
  return parts;
}

std::vector<Unstepped> unsupported_shapes(const Model& model) {
  if (model.particle_count == 0) return {};
  Unstepped carried{Element::carried_shape, 0}, other{Element::other_shape, 0};
  const auto flags = model.shape_flags.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  const auto types = model.shape_type.read<GeoType>();
  for (std::size_t s = 0; s < flags.size(); ++s) {
    if ((flags[s] & ShapeFlags::COLLIDE_PARTICLES) == 0) continue;
    carried.count += bodies[s] >= 0 && is_dynamic(model, bodies[s]) ? 1 : 0;
    other.count += has_particle_distance(types[s]) ? 0 : 1;
  }
  std::vector<Unstepped> parts{carried, other};
  std::erase_if(parts, [](const Unstepped& part) { return part.count == 0; });
  return parts;
}

void check_owners(const char* who, const Model& model) {
  const auto worlds = model.particle_world.read<std::int32_t>();
  for (std::size_t p = 0; p < worlds.size(); ++p)
    NOVAPHY_REQUIRE(worlds[p] < model.world_count, ErrorKind::index, who, ": particle ", p, " is in world ",
                    worlds[p], ", the model has ", model.world_count,
                    "; correct particle_world, in which -1 means all worlds");
  const auto bodies = model.shape_body.read<std::int32_t>();
  for (std::size_t s = 0; s < bodies.size(); ++s)
    NOVAPHY_REQUIRE(bodies[s] < model.body_count, ErrorKind::index, who, ": shape ", s, " is on body ",
                    bodies[s], ", the model has ", model.body_count,
                    "; correct shape_body, in which -1 means the world");
}

bool CheckedModel::is_current(const Model& model) const {
  std::uint64_t versions = 0;
  for (const auto array : kReadByChecks) {
    const Storage* const storage = (model.*array).storage().get();
    if (storage == nullptr) continue;
    if (storage->escaped()) return false;
    versions += storage->version();
  }
  return versions == versions_;
}

void CheckedModel::note(const Model& model) {
  versions_ = 0;
  for (const auto array : kReadByChecks) versions_ += (model.*array).version();
}

std::string listed(const std::vector<Unstepped>& parts) {
  static constexpr const char* kNames[][2] = {
      {"spring", "springs"},
      {"triangle", "triangles"},
      {"bending edge", "bending edges"},
      {"tetrahedron", "tetrahedra"},
      {"muscle", "muscles"},
      {"dynamic body", "dynamic bodies"},
      {"joint", "joints"},
      {"shape on a dynamic body", "shapes on dynamic bodies"},
      {"shape that is no plane, box, sphere or capsule", "shapes that are no plane, box, sphere or capsule"}};
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += text(parts[i].count, " ",
                kNames[static_cast<std::size_t>(parts[i].element)][parts[i].count == 1 ? 0 : 1]);
  }
  return out;
}

void check_step(const char* who, const Model& model, const SimState& state_in, const SimState& state_out,
                const Contacts* contacts, float dt) {
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, who, ": dt is ", dt,
                  "; give a positive time in s");
  NOVAPHY_REQUIRE(!model.particles_collide, ErrorKind::unsupported_feature, who,
                  ": particles do not act on each other yet; set model.particle_grid to None");
  check_state(who, "state_in", model, state_in);
  check_state(who, "state_out", model, state_out);
  NOVAPHY_REQUIRE(contacts == nullptr || (contacts->particle_count == model.particle_count &&
                                          contacts->shape_count == model.shape_count),
                  ErrorKind::shape_mismatch, who, ": contacts were made for ", contacts->particle_count,
                  " particles and ", contacts->shape_count, " shapes, the model has ", model.particle_count,
                  " and ", model.shape_count, "; take them from a pipeline of this model");
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
