// SPDX-License-Identifier: Apache-2.0
// Model: fixed topology, parameters, and the maker of states, controls and contacts.
#include "novaphy/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/array_layout.hpp"

namespace novaphy {
namespace {

/// The arrays of one owner that the model's custom arrays add.
std::vector<ArraySet::Custom> make_custom_arrays(const Model& model, ArrayOwner owner, const char* owner_name,
                                                 bool requires_grad,
                                                 const std::function<std::int64_t(Frequency)>& rows_of,
                                                 int owner_index = -1) {
  std::vector<ArraySet::Custom> out;
  for (const CustomArray& spec : model.custom_array_specs)
    if (spec.owner == owner)
      out.push_back(make_custom_array(spec, rows_of(spec.info.frequency), model.device, requires_grad,
                                      owner_name, owner_index));
  return out;
}

/// Start values: no write that anybody could have missed, so the version stays 0.
void start_from(DeviceArray& array, const DeviceArray& values) {
  if (!values.empty())
    std::memcpy(array.storage()->data_without_version(), values.storage()->data(), values.bytes());
}

}  // namespace

Model::Model() = default;
Model::~Model() = default;

void Model::visit(const Visitor& visitor) {
  const ArrayInfo* info = built_in_arrays(ArrayOwner::model).data();
#define X(name, dtype, frequency, width, doc) visitor(*info++, name);
#include "novaphy/model_arrays.inc"
  for (Custom& custom : custom_arrays) visitor(custom.spec.info, custom.array);
}

std::int64_t Model::rows_of(Frequency frequency) const {
  switch (frequency) {
    case Frequency::once:
      return 1;
    case Frequency::world:
      return world_count;
    case Frequency::particle:
      return particle_count;
    case Frequency::spring:
      return spring_count;
    case Frequency::tri:
      return tri_count;
    case Frequency::edge:
      return edge_count;
    case Frequency::tet:
      return tet_count;
    case Frequency::muscle:
      return muscle_count;
    case Frequency::body:
      return body_count;
    case Frequency::shape:
      return shape_count;
    case Frequency::shape_pair:
      return shape_contact_pairs.rows();
    case Frequency::joint:
      return joint_count;
    case Frequency::joint_bound:
      return joint_count + 1;
    case Frequency::joint_coord:
      return joint_coord_count;
    case Frequency::joint_dof:
      return joint_dof_count;
    case Frequency::articulation:
      return articulation_count;
    case Frequency::articulation_bound:
      return articulation_count + 1;
    case Frequency::soft_contact:
    case Frequency::rigid_contact:
    case Frequency::particle_shape:
      break;
  }
  return 0;
}

std::uint64_t Model::version() const {
  std::uint64_t sum = 0;
#define X(name, dtype, frequency, width, doc) sum += name.version();
#include "novaphy/model_arrays.inc"
  for (const Custom& custom : custom_arrays) sum += custom.array.version();
  return sum;
}

std::shared_ptr<SimState> Model::state(std::optional<bool> gradients) const {
  auto out = std::make_shared<SimState>();
  out->states_made_ = states_made_;
  out->index = (*states_made_)++;
  out->requires_grad = gradients.value_or(requires_grad);
  const ArrayInfo* info = built_in_arrays(ArrayOwner::state).data();
#define X(name, dtype, frequency, width, doc) \
  out->name =                                 \
      make_array(*info++, rows_of(Frequency::frequency), device, out->requires_grad, "state", out->index);
#include "novaphy/state_arrays.inc"
  start_from(out->particle_q, particle_q);
  start_from(out->particle_qd, particle_qd);
  start_from(out->body_q, body_q);
  start_from(out->body_qd, body_qd);
  start_from(out->joint_q, joint_q);
  start_from(out->joint_qd, joint_qd);
  out->custom_arrays = make_custom_arrays(
      *this, ArrayOwner::state, "state", out->requires_grad,
      [&](Frequency frequency) { return rows_of(frequency); }, out->index);
  return out;
}

std::shared_ptr<Control> Model::control(std::optional<bool> gradients) const {
  const bool keeps_gradients = gradients.value_or(requires_grad);
  auto out = std::make_shared<Control>();
  const ArrayInfo* info = built_in_arrays(ArrayOwner::control).data();
#define X(name, dtype, frequency, width, doc) \
  out->name = make_array(*info++, rows_of(Frequency::frequency), device, keeps_gradients, "control");
#include "novaphy/control_arrays.inc"
  start_from(out->joint_target_q, joint_target_q);
  start_from(out->joint_target_qd, joint_target_qd);
  start_from(out->tri_activations, particle_tri_activation);
  start_from(out->tet_activations, particle_tet_activation);
  out->custom_arrays = make_custom_arrays(*this, ArrayOwner::control, "control", keeps_gradients,
                                          [&](Frequency frequency) { return rows_of(frequency); });
  return out;
}

std::shared_ptr<Contacts> Model::contacts(int soft_contact_max, int rigid_contact_max) const {
  NOVAPHY_REQUIRE(soft_contact_max >= 0, ErrorKind::value, "contacts: soft_contact_max is ", soft_contact_max,
                  ": want 0 or more");
  NOVAPHY_REQUIRE(rigid_contact_max >= 0, ErrorKind::value, "contacts: rigid_contact_max is ",
                  rigid_contact_max, ": want 0 or more");
  const auto rows = [&](Frequency frequency) -> std::int64_t {
    if (frequency == Frequency::soft_contact) return soft_contact_max;
    if (frequency == Frequency::rigid_contact) return rigid_contact_max;
    if (frequency == Frequency::particle_shape) return std::int64_t{particle_count} * shape_count;
    return rows_of(frequency);
  };
  auto out = std::make_shared<Contacts>();
  out->soft_contact_max = soft_contact_max;
  out->rigid_contact_max = rigid_contact_max;
  out->particle_count = particle_count;
  out->shape_count = shape_count;
  const ArrayInfo* info = built_in_arrays(ArrayOwner::contacts).data();
#define X(name, dtype, frequency, width, doc) \
  out->name = make_array(*info++, rows(Frequency::frequency), device, false, "contacts");
#include "novaphy/contacts_arrays.inc"
  out->custom_arrays = make_custom_arrays(*this, ArrayOwner::contacts, "contacts", false, rows);
  out->clear();
  return out;
}

void Model::set_gravity(const Vec3f& vector, std::optional<int> world) {
  NOVAPHY_REQUIRE(std::isfinite(vector.x) && std::isfinite(vector.y) && std::isfinite(vector.z),
                  ErrorKind::value, "set_gravity: gravity is (", vector.x, ", ", vector.y, ", ", vector.z,
                  "): want finite numbers");
  NOVAPHY_REQUIRE(!world || (*world >= 0 && *world < world_count), ErrorKind::index, "set_gravity: world is ",
                  *world, ": the model has ", world_count, " (0 to ", world_count - 1, ")");
  const auto rows = gravity.write<Vec3f>();
  if (world)
    rows[static_cast<std::size_t>(*world)] = vector;
  else
    std::fill(rows.begin(), rows.end(), vector);
}

void Model::add_custom_array(const CustomArray& spec) {
  check_custom_array(spec, custom_array_specs);
  if (spec.owner == ArrayOwner::model)
    custom_arrays.push_back(
        make_custom_array(spec, rows_of(spec.info.frequency), device, requires_grad, "model"));
  custom_array_specs.push_back(spec);
}

std::shared_ptr<Model> Model::clone() const {
  auto out = std::make_shared<Model>();
#define X(array, dtype, frequency, width, doc) out->array = array.clone();
#include "novaphy/model_arrays.inc"
  out->custom_arrays = clone_custom_arrays(custom_arrays, "model");
  out->custom_array_specs = custom_array_specs;
  out->particle_count = particle_count;
  out->spring_count = spring_count;
  out->tri_count = tri_count;
  out->edge_count = edge_count;
  out->tet_count = tet_count;
  out->muscle_count = muscle_count;
  out->body_count = body_count;
  out->shape_count = shape_count;
  out->joint_count = joint_count;
  out->joint_coord_count = joint_coord_count;
  out->joint_dof_count = joint_dof_count;
  out->articulation_count = articulation_count;
  out->world_count = world_count;
  out->up_axis = up_axis;
  out->device = device;
  out->requires_grad = requires_grad;
  out->particle_max_velocity = particle_max_velocity;
  out->particle_max_radius = particle_max_radius;
  out->particles_collide = particles_collide;
  out->body_label = body_label;
  out->shape_label = shape_label;
  out->joint_label = joint_label;
  out->articulation_label = articulation_label;
  out->world_label = world_label;
  return out;
}

}  // namespace novaphy
