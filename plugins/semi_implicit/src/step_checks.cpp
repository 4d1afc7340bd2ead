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

constexpr DeviceArray Model::*kStructure[] = {
    &Model::body_flags,  &Model::shape_flags,    &Model::shape_type,
    &Model::shape_body,  &Model::particle_world, &Model::spring_indices,
    &Model::tri_indices, &Model::edge_indices,   &Model::tet_indices};
constexpr DeviceArray Model::*kMaterials[] = {&Model::spring_stiffness, &Model::spring_damping,
                                              &Model::particle_tri_material, &Model::edge_bending_properties,
                                              &Model::particle_tet_material};

std::span<DeviceArray Model::*const> arrays_read(CheckedModel::Reads reads) {
  if (reads == CheckedModel::Reads::materials) return kMaterials;
  return kStructure;
}

/// Elements whose corners are `corners`, columns of `array`; those of springs and edges may be missing (below
/// 0).
void check_corners(const char* who, const char* element, const char* array, const DeviceArray& corners,
                   int columns, bool may_miss, int particles) {
  const auto indices = corners.read<std::int32_t>();
  for (std::size_t k = 0; k < indices.size(); ++k)
    NOVAPHY_REQUIRE(indices[k] < particles && (may_miss || indices[k] >= 0), ErrorKind::index, who, ": ",
                    element, " ", k / static_cast<std::size_t>(columns), " has particle ", indices[k],
                    ", the model has ", particles, "; correct ", array);
}

/// Rows of `names.size()` numbers; the first `checked` of a row may not be negative.
void check_material(const char* who, const char* element, const DeviceArray& material,
                    std::initializer_list<const char*> names, std::size_t checked) {
  const auto values = material.read<float>();
  const std::size_t width = names.size();
  for (std::size_t k = 0; k < values.size(); ++k)
    NOVAPHY_REQUIRE(
        k % width >= checked || values[k] >= 0.0f, ErrorKind::value, who, ": ", element, " ", k / width,
        " has ", names.begin()[k % width], " = ", values[k],
        "; give a number of at least 0, or keep the parameter in its range (ndiff.clamp_f32_generated)");
}

void check_state(const char* who, const char* which, const Model& model, const SimState& state) {
  NOVAPHY_REQUIRE(state.particle_count() == model.particle_count && state.body_count() == model.body_count,
                  ErrorKind::shape_mismatch, who, ": ", which, " has ", state.particle_count(),
                  " particles and ", state.body_count(), " bodies, the model has ", model.particle_count,
                  " and ", model.body_count, "; take it from this model's state()");
}

}  // namespace

bool is_dynamic(const Model& model, std::int32_t body) {
  const auto flags = model.body_flags.read<std::int32_t>();
  return body >= 0 && (flags[static_cast<std::size_t>(body)] & BodyFlags::KINEMATIC) == 0;
}

std::vector<Unstepped> unstepped_elements(const Model& model) {
  std::vector<Unstepped> parts{{Element::muscle, model.muscle_count},
                               {Element::body, dynamic_bodies(model)},
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
    carried.count += is_dynamic(model, bodies[s]) ? 1 : 0;
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
  const int particles = model.particle_count;
  check_corners(who, "spring", "spring_indices", model.spring_indices, 2, true, particles);
  check_corners(who, "triangle", "tri_indices", model.tri_indices, 3, false, particles);
  check_corners(who, "bending edge", "edge_indices", model.edge_indices, 4, true, particles);
  check_corners(who, "tetrahedron", "tet_indices", model.tet_indices, 4, false, particles);
}

void check_materials(const char* who, const Model& model) {
  check_material(who, "spring", model.spring_stiffness, {"ke"}, 1);
  check_material(who, "spring", model.spring_damping, {"kd"}, 1);
  check_material(who, "triangle", model.particle_tri_material, {"ke", "ka", "kd", "drag", "lift"}, 3);
  check_material(who, "bending edge", model.edge_bending_properties, {"ke", "kd"}, 2);
  check_material(who, "tetrahedron", model.particle_tet_material, {"k_mu", "k_lambda", "k_damp"}, 3);
}

Activations activations_of(const char* who, const Model& model, const Control* control) {
  if (control == nullptr) return {model.particle_tri_activation, model.particle_tet_activation};
  NOVAPHY_REQUIRE(control->tri_activations.rows() == model.tri_count &&
                      control->tet_activations.rows() == model.tet_count,
                  ErrorKind::shape_mismatch, who, ": control has ", control->tri_activations.rows(),
                  " triangles and ", control->tet_activations.rows(), " tetrahedra, the model has ",
                  model.tri_count, " and ", model.tet_count, "; take it from this model's control()");
  return {control->tri_activations, control->tet_activations};
}

bool CheckedModel::is_current(const Model& model) const {
  std::uint64_t versions = 0;
  for (const auto array : arrays_read(reads_)) {
    const Storage* const storage = (model.*array).storage().get();
    if (storage == nullptr) continue;
    if (storage->escaped()) return false;
    versions += storage->version();
  }
  return versions == versions_;
}

void CheckedModel::note(const Model& model) {
  versions_ = 0;
  for (const auto array : arrays_read(reads_)) versions_ += (model.*array).version();
}

std::string listed(const std::vector<Unstepped>& parts) {
  static constexpr const char* kNames[][2] = {
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
