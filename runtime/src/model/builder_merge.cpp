// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: copies of other builders, each moved to its place and counted to its world.
#include <algorithm>
#include <cmath>

#include "model/array_layout.hpp"
#include "model/builder_support.hpp"

namespace novaphy {
namespace {

const char* name_of(Axis axis) {
  return axis == Axis::X ? "X" : axis == Axis::Y ? "Y" : "Z";
}

bool same(const CustomArray& a, const CustomArray& b) {
  return a.owner == b.owner && a.info.name == b.info.name && a.info.dtype == b.info.dtype &&
         a.info.frequency == b.info.frequency && a.info.width == b.info.width &&
         a.default_row == b.default_row;
}

/// Adds `offset` to the last `count` entries, but not to -1.
void shift(std::vector<std::int32_t>& column, std::size_t count, int offset) {
  for (auto entry = column.end() - static_cast<std::ptrdiff_t>(count); entry != column.end(); ++entry)
    if (*entry >= 0) *entry += offset;
}

void append_labels(std::vector<std::string>& labels, const std::vector<std::string>& others,
                   const std::string& prefix) {
  for (const std::string& label : others) labels.push_back(prefix.empty() ? label : prefix + "/" + label);
}

Spatialf turned(const Quatf& q, const Spatialf& twist) {
  return {rotate(q, twist.linear), rotate(q, twist.angular)};
}

bool is_identity(const Transformf& pose) {
  return pose.p.x == 0 && pose.p.y == 0 && pose.p.z == 0 && pose.q.x == 0 && pose.q.y == 0 && pose.q.z == 0 &&
         pose.q.w == 1;
}

/// Places on a line, a square or a cube, as many directions as `spacing` has that are not 0, around the
/// middle; along `up_axis` upwards from 0.
std::vector<Vec3f> grid_offsets(int count, const Vec3f& spacing, Axis up_axis) {
  const float step[3] = {spacing.x, spacing.y, spacing.z};
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis)
    if (step[axis] != 0) axes.push_back(axis);
  const int side =
      axes.empty() ? 1 : static_cast<int>(std::ceil(std::pow(count, 1.0 / static_cast<double>(axes.size()))));
  std::vector<std::array<float, 3>> places(static_cast<std::size_t>(count));
  std::array<float, 3> lowest{}, highest{};
  for (int i = 0; i < count; ++i) {
    int rest = i;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto axis = static_cast<std::size_t>(axes[k]);
      const int at = k + 1 == axes.size() ? rest : rest % side;
      rest /= side;
      const float place = static_cast<float>(at) * step[axis];
      places[static_cast<std::size_t>(i)][axis] = place;
      lowest[axis] = std::min(lowest[axis], place);
      highest[axis] = std::max(highest[axis], place);
    }
  }
  std::vector<Vec3f> out;
  for (auto& place : places) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (axis != static_cast<std::size_t>(up_axis))
        place[axis] -= lowest[axis] + (highest[axis] - lowest[axis]) / 2.0f;
    out.push_back({place[0], place[1], place[2]});
  }
  return out;
}

}  // namespace

void ModelBuilder::add_builder(const ModelBuilder& builder, const std::optional<Transformf>& xform,
                               const std::string& label_prefix) {
  if (&builder == this) return add_builder(ModelBuilder(builder), xform, label_prefix);
  const Arguments check("add_builder");
  check.require(builder.up_axis_ == up_axis_, ErrorKind::value, "the builder has up_axis ",
                name_of(builder.up_axis_), ": want ", name_of(up_axis_), ", as here");
  check.require(builder.world_count() == 0, ErrorKind::value, "the builder has ", builder.world_count(),
                " worlds of its own: want a builder without worlds, they do not nest");
  check.require(current_world_ < world_count(), ErrorKind::generic, "world ", current_world_,
                " has begun and is gone: want a builder that was not moved from");
  const Transformf pose = check.pose("xform", xform);
  std::vector<CustomArray> arrays = custom_arrays_;
  for (const CustomArray& spec : builder.custom_arrays_) {
    if (std::any_of(arrays.begin(), arrays.end(),
                    [&](const CustomArray& other) { return same(spec, other); }))
      continue;
    check_custom_array(spec, arrays);
    arrays.push_back(spec);
  }
  custom_arrays_ = std::move(arrays);
  append_rows_of(builder, label_prefix);
  if (!is_identity(pose)) move_rows_of(builder, pose);
  if (builder.particle_count() > 0) particle_max_velocity = builder.particle_max_velocity;
  if (current_world_ >= 0)
    set_row(gravity, current_world_, builder.default_gravity);
  else
    default_gravity = builder.default_gravity;
}

/// The rows as they are, with indices and worlds that hold here.
void ModelBuilder::append_rows_of(const ModelBuilder& other, const std::string& label_prefix) {
  const int particles = particle_count(), bodies = body_count(), shapes = shape_count(),
            joints = joint_count(), articulations = articulation_count(), coords = joint_coord_count(),
            dofs = joint_dof_count();
#define X(name, dtype, frequency, width, doc) name.insert(name.end(), other.name.begin(), other.name.end());
#include "novaphy/model_arrays.inc"
  shift(spring_indices, other.spring_indices.size(), particles);
  shift(tri_indices, other.tri_indices.size(), particles);
  shift(edge_indices, other.edge_indices.size(), particles);
  shift(tet_indices, other.tet_indices.size(), particles);
  shift(shape_body, other.shape_body.size(), bodies);
  shift(joint_parent, other.joint_parent.size(), bodies);
  shift(joint_child, other.joint_child.size(), bodies);
  shift(joint_articulation, other.joint_articulation.size(), articulations);
  shift(joint_q_start, other.joint_q_start.size(), coords);
  shift(joint_qd_start, other.joint_qd_start.size(), dofs);
  shift(articulation_start, other.articulation_start.size(), joints);
  shift(articulation_end, other.articulation_end.size(), joints);
  for (auto* worlds : {&particle_world, &body_world, &shape_world, &joint_world}) {
    const std::size_t added = worlds == &particle_world ? other.particle_world.size()
                              : worlds == &body_world   ? other.body_world.size()
                              : worlds == &shape_world  ? other.shape_world.size()
                                                        : other.joint_world.size();
    std::fill(worlds->end() - static_cast<std::ptrdiff_t>(added), worlds->end(), current_world_);
  }
  append_labels(body_label, other.body_label, label_prefix);
  append_labels(shape_label, other.shape_label, label_prefix);
  append_labels(joint_label, other.joint_label, label_prefix);
  append_labels(articulation_label, other.articulation_label, label_prefix);
  exact_body_mass_.insert(exact_body_mass_.end(), other.exact_body_mass_.begin(),
                          other.exact_body_mass_.end());
  body_lock_inertia_.insert(body_lock_inertia_.end(), other.body_lock_inertia_.begin(),
                            other.body_lock_inertia_.end());
  joint_filters_parent_.insert(joint_filters_parent_.end(), other.joint_filters_parent_.begin(),
                               other.joint_filters_parent_.end());
  for (std::vector<int> list : other.body_shapes_) {
    for (int& shape : list) shape += shapes;
    body_shapes_.push_back(std::move(list));
  }
  for (const int shape : other.world_shapes_) world_shapes_.push_back(shape + shapes);
  for (const auto& [a, b] : other.shape_filter_pairs_) shape_filter_pairs_.insert({a + shapes, b + shapes});
}

/// Moves the rows that append_rows_of() has just added: particles, bodies, what is fixed to the world, roots
/// of joints.
void ModelBuilder::move_rows_of(const ModelBuilder& other, const Transformf& pose) {
  for (int i = particle_count() - other.particle_count(); i < particle_count(); ++i) {
    set_row(particle_q, i, transform_point(pose, row<Vec3f>(particle_q, i)));
    set_row(particle_qd, i, rotate(pose.q, row<Vec3f>(particle_qd, i)));
  }
  for (int i = body_count() - other.body_count(); i < body_count(); ++i) {
    set_row(body_q, i, pose * row<Transformf>(body_q, i));
    set_row(body_qd, i, turned(pose.q, row<Spatialf>(body_qd, i)));
  }
  for (int i = shape_count() - other.shape_count(); i < shape_count(); ++i)
    if (shape_body[static_cast<std::size_t>(i)] < 0)
      set_row(shape_transform, i, pose * row<Transformf>(shape_transform, i));
  for (int i = joint_count() - other.joint_count(); i < joint_count(); ++i) {
    const auto joint = static_cast<std::size_t>(i);
    if (joint_parent[joint] >= 0) continue;
    const Transformf anchor = row<Transformf>(joint_X_p, i);
    if (joint_type[joint] != static_cast<int>(JointType::FREE)) {
      set_row(joint_X_p, i, pose * anchor);
      continue;
    }
    // A free root keeps its anchor and moves by its coordinates.
    const Transformf local = inverse(anchor) * pose * anchor;
    Transformf coords;
    Spatialf speeds;
    std::memcpy(&coords, joint_q.data() + joint_q_start[joint], sizeof coords);
    std::memcpy(&speeds, joint_qd.data() + joint_qd_start[joint], sizeof speeds);
    coords = local * coords;
    speeds = turned(local.q, speeds);
    std::memcpy(joint_q.data() + joint_q_start[joint], &coords, sizeof coords);
    std::memcpy(joint_qd.data() + joint_qd_start[joint], &speeds, sizeof speeds);
  }
}

int ModelBuilder::add_world(const ModelBuilder& builder, const std::optional<Transformf>& xform,
                            const std::string& label_prefix) {
  if (&builder == this) return add_world(ModelBuilder(builder), xform, label_prefix);
  const int world = begin_world();
  try {
    add_builder(builder, xform, label_prefix);
  } catch (...) {
    current_world_ = -1;
    gravity.resize(gravity.size() - 3);
    world_label.pop_back();
    throw;
  }
  end_world();
  return world;
}

void ModelBuilder::replicate(const ModelBuilder& builder, int copy_count, const Vec3f& spacing) {
  const Arguments check("replicate");
  check.at_least("copy_count", copy_count, 0);
  check.finite("spacing", spacing);
  for (const Vec3f& offset : grid_offsets(copy_count, spacing, up_axis_))
    add_world(builder, Transformf{offset, {0, 0, 0, 1}});
}

}  // namespace novaphy
