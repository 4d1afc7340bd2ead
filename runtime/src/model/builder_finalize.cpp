// SPDX-License-Identifier: Apache-2.0
// ModelBuilder::finalize: the last checks, then memory.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/array_layout.hpp"
#include "model/builder_support.hpp"
#include "model/contact_pairs.hpp"
#include "model/rest_shape.hpp"

namespace novaphy {
namespace {

/// Sets of bodies that joints connect; the world is one more member.
class Connected {
 public:
  explicit Connected(int bodies) : root_(static_cast<std::size_t>(bodies) + 1) {
    std::iota(root_.begin(), root_.end(), 0);
  }
  /// False when the two were connected already. -1 = the world.
  bool join(int a, int b) {
    const std::size_t x = find(static_cast<std::size_t>(a + 1)), y = find(static_cast<std::size_t>(b + 1));
    root_[x] = y;
    return x != y;
  }

 private:
  std::size_t find(std::size_t i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  std::vector<std::size_t> root_;
};

template <class Element>
void check_length(const Arguments& check, const ArrayInfo& info, const std::vector<Element>& column,
                  std::int64_t rows) {
  const auto want = static_cast<std::size_t>(rows * info.width);
  check.require(column.size() == want, ErrorKind::value, "column ", info.name, " has ", column.size(),
                " values: want ", want, ", ", info.width, " for each of ", rows,
                " (only add_* calls may change the length)");
}

template <class Element>
void check_finite(const Arguments& check, const ArrayInfo& info, const std::vector<Element>& column) {
  if constexpr (std::is_same_v<Element, float>)
    for (std::size_t i = 0; i < column.size(); ++i)
      check.require(std::isfinite(column[i]), ErrorKind::value, info.name, " is ", column[i], " in row ",
                    i / static_cast<std::size_t>(info.width), ": want finite numbers");
}

void check_indices(const Arguments& check, const char* name, const std::vector<int>& column, int lowest,
                   int count, const char* what) {
  for (std::size_t i = 0; i < column.size(); ++i)
    check.require(column[i] >= lowest && column[i] < count, ErrorKind::index, name, " holds ", column[i],
                  " at place ", i, ": there are ", count, " ", what);
}

/// 1 / value in float, 0 for 0.
std::vector<float> reciprocals(const std::vector<float>& values) {
  std::vector<float> out;
  for (const float value : values) out.push_back(value > 0 ? 1.0f / value : 0.0f);
  return out;
}

void fill(DeviceArray& array, const ArrayInfo& info, const auto& column, std::int64_t rows,
          const Model& model) {
  array = make_array(info, rows, model.device, model.requires_grad, "model");
  if (!column.empty()) std::memcpy(array.storage()->data_without_version(), column.data(), array.bytes());
}

}  // namespace

std::shared_ptr<Model> ModelBuilder::finalize(Device device, bool requires_grad) const {
  auto model = std::make_shared<Model>();
  model->particle_count = particle_count();
  model->spring_count = spring_count();
  model->tri_count = tri_count();
  model->edge_count = edge_count();
  model->tet_count = tet_count();
  model->body_count = body_count();
  model->shape_count = shape_count();
  model->joint_count = joint_count();
  model->joint_coord_count = joint_coord_count();
  model->joint_dof_count = joint_dof_count();
  model->articulation_count = articulation_count();
  model->world_count = std::max(1, world_count());
  model->up_axis = up_axis_;
  model->device = device;
  model->requires_grad = requires_grad;
  model->particle_max_velocity = static_cast<float>(particle_max_velocity);
  model->particle_max_radius =
      particle_radius.empty() ? 0.0f : *std::max_element(particle_radius.begin(), particle_radius.end());

  const Arguments check("finalize");
  ModelBuilder whole(*this);
  whole.append_ends();
  const auto rows_of = [&](Frequency frequency) {
    return frequency == Frequency::shape_pair
               ? static_cast<std::int64_t>(whole.shape_contact_pairs.size() / 2)
               : model->rows_of(frequency);
  };
  const ArrayInfo* info = built_in_arrays(ArrayOwner::model).data();
#define X(name, dtype, frequency, width, doc) \
  check_length(check, *info++, whole.name, rows_of(Frequency::frequency));
#include "novaphy/model_arrays.inc"
  check_labels();
  check_references();
  check_joints();
  whole.derive();
  info = built_in_arrays(ArrayOwner::model).data();
#define X(name, dtype, frequency, width, doc) check_finite(check, *info++, whole.name);
#include "novaphy/model_arrays.inc"

  info = built_in_arrays(ArrayOwner::model).data();
#define X(name, dtype, frequency, width, doc) \
  fill(model->name, *info++, whole.name, rows_of(Frequency::frequency), *model);
#include "novaphy/model_arrays.inc"
  model->body_label = body_label;
  model->shape_label = shape_label;
  model->joint_label = joint_label;
  model->articulation_label = articulation_label;
  model->world_label = world_label;
  for (const CustomArray& spec : custom_arrays_) model->add_custom_array(spec);
  return model;
}

/// The columns that only a whole model has, with their final lengths.
void ModelBuilder::append_ends() {
  Arguments("finalize").positive("particle_max_velocity", particle_max_velocity);
  particle_inv_mass = reciprocals(particle_mass);
  body_inv_mass = reciprocals(body_mass);
  body_inv_inertia.assign(9 * body_mass.size(), 0.0f);
  joint_q_start.push_back(joint_coord_count());
  joint_qd_start.push_back(joint_dof_count());
  articulation_start.push_back(joint_count());
  if (gravity.empty()) append(gravity, default_gravity);
  soft_contact_material = {1000, 10, 1000, 0.5f, 0};
  particle_contact_material = {1000, 100, 100, 0.5f, 0, 0};
}

/// What follows from several columns together, once they are known to be in order.
void ModelBuilder::derive() {
  for (int i = 0; i < body_count(); ++i)
    if (body_mass[static_cast<std::size_t>(i)] > 0)
      set_row(body_inv_inertia, i, inverse(row<Mat33f>(body_inertia, i)).value_or(Mat33f{}));
  shape_contact_pairs =
      contact_pairs({shape_body, shape_world, shape_collision_group, shape_flags, shape_filter_pairs_});
}

void ModelBuilder::check_labels() const {
  const auto as_many = [](const char* name, const std::vector<std::string>& labels, int rows) {
    Arguments("finalize")
        .require(labels.size() == static_cast<std::size_t>(rows), ErrorKind::value, name, " has ",
                 labels.size(), " entries: want ", rows, " (only add_* calls may change the length)");
  };
  as_many("body_label", body_label, body_count());
  as_many("shape_label", shape_label, shape_count());
  as_many("joint_label", joint_label, joint_count());
  as_many("articulation_label", articulation_label, articulation_count());
  as_many("world_label", world_label, world_count());
}

/// Columns are public: what they point at must exist, and nothing may weigh less than nothing.
void ModelBuilder::check_references() const {
  const Arguments check("finalize");
  const auto weights = [&](const char* name, const std::vector<float>& column) {
    for (std::size_t i = 0; i < column.size(); ++i)
      check.require(column[i] >= 0, ErrorKind::value, name, " is ", column[i], " in row ", i,
                    ": want at least 0");
  };
  weights("particle_mass", particle_mass);
  weights("particle_radius", particle_radius);
  weights("body_mass", body_mass);
  check_indices(check, "spring_indices", spring_indices, 0, particle_count(), "particles");
  check_indices(check, "tri_indices", tri_indices, 0, particle_count(), "particles");
  check_indices(check, "edge_indices", edge_indices, -1, particle_count(), "particles");
  check_indices(check, "tet_indices", tet_indices, 0, particle_count(), "particles");
  check_indices(check, "shape_body", shape_body, -1, body_count(), "bodies");
  check_indices(check, "joint_parent", joint_parent, -1, body_count(), "bodies");
  check_indices(check, "joint_articulation", joint_articulation, -1, articulation_count(), "articulations");
  check_indices(check, "joint_q_start", joint_q_start, 0, joint_coord_count() + 1, "places");
  check_indices(check, "joint_qd_start", joint_qd_start, 0, joint_dof_count() + 1, "places");
  check_indices(check, "articulation_start", articulation_start, 0, joint_count(), "joints");
  check_indices(check, "articulation_end", articulation_end, 1, joint_count() + 1, "places");
  for (int i = 0; i < joint_count(); ++i) {
    const int child = joint_child[static_cast<std::size_t>(i)];
    check.require(child >= 0 && child < body_count(), ErrorKind::value, "joint ", i, " ('",
                  joint_label[static_cast<std::size_t>(i)], "') has child ", child,
                  ", which is no body: there are ", body_count(), " bodies");
  }
  for (const auto* worlds : {&particle_world, &body_world, &shape_world, &joint_world})
    check_indices(check, "a *_world column", *worlds, -1, world_count(), "worlds");
}

void ModelBuilder::check_joints() const {
  const Arguments check("finalize");
  const auto joint_name = [&](std::size_t i) { return text("joint ", i, " ('", joint_label[i], "')"); };
  const auto body_name = [&](int body) {
    return body < 0 ? std::string("the world")
                    : text("body ", body, " ('", body_label[static_cast<std::size_t>(body)], "')");
  };
  std::vector<int> articulation_of(static_cast<std::size_t>(body_count()), -1);
  const auto claim = [&](int body, int articulation) {
    if (body < 0 || articulation < 0) return;
    int& owner = articulation_of[static_cast<std::size_t>(body)];
    check.require(owner < 0 || owner == articulation, ErrorKind::value, body_name(body),
                  " belongs to articulations ", owner, " and ", articulation,
                  ": want all connected joints in one articulation");
    owner = articulation;
  };
  Connected connected(body_count());
  for (std::size_t i = 0; i < joint_type.size(); ++i) {
    claim(joint_child[i], joint_articulation[i]);
    claim(joint_parent[i], joint_articulation[i]);
    check.require(connected.join(joint_parent[i], joint_child[i]), ErrorKind::value, joint_name(i),
                  " closes a loop: ", body_name(joint_child[i]), " and ", body_name(joint_parent[i]),
                  " are connected already; want a tree of joints (add_body adds a free joint to the world, "
                  "add_link does not)");
  }
  for (std::size_t i = 0; i < joint_type.size(); ++i) {
    const bool free_standing = joint_articulation[i] >= 0 || joint_parent[i] < 0 ||
                               articulation_of[static_cast<std::size_t>(joint_child[i])] >= 0;
    check.require(free_standing, ErrorKind::value, joint_name(i),
                  " belongs to no articulation: call add_articulation with the joints of its mechanism");
  }
}

}  // namespace novaphy
