// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: joints, their axes, articulations, and which shapes joints keep apart.
#include <algorithm>
#include <cmath>

#include "model/builder_support.hpp"

namespace novaphy {
namespace {

constexpr double kUnlimited = 1e10;

struct AxisCount {
  int linear, angular;
};  // -1 = any

AxisCount axes_of(JointType type) {
  switch (type) {
    case JointType::PRISMATIC:
      return {1, 0};
    case JointType::REVOLUTE:
      return {0, 1};
    case JointType::BALL:
      return {0, 3};
    case JointType::FIXED:
      return {0, 0};
    case JointType::FREE:
    case JointType::DISTANCE:
      return {3, 3};
    case JointType::D6:
      break;
  }
  return {-1, -1};
}

bool has_quaternion(JointType type) {
  return type == JointType::BALL || type == JointType::FREE || type == JointType::DISTANCE;
}

JointTargetMode mode_of(const JointDofConfig& dof) {
  if (dof.actuator_mode) return *dof.actuator_mode;
  if (dof.target_ke != 0) return JointTargetMode::POSITION;
  return dof.target_kd != 0 ? JointTargetMode::VELOCITY : JointTargetMode::NONE;
}

double limit(double value) {
  return std::clamp(value, -kUnlimited, kUnlimited);
}

/// Inside the limits, or their midpoint.
double target_of(const JointDofConfig& dof) {
  const bool outside = dof.target_q > dof.limit_upper || dof.target_q < dof.limit_lower;
  return outside ? 0.5 * (limit(dof.limit_lower) + limit(dof.limit_upper)) : dof.target_q;
}

void check_dof(const Arguments& check, const JointDofConfig& dof, bool may_cross) {
  check.require(!std::isnan(dof.limit_lower) && !std::isnan(dof.limit_upper), ErrorKind::value,
                "a limit of a joint axis is nan: want numbers");
  check.require(may_cross || dof.limit_lower <= dof.limit_upper, ErrorKind::value, "limit_lower is ",
                dof.limit_lower, " and limit_upper is ", dof.limit_upper,
                ": want limit_lower <= limit_upper");
  check.finite("limit_ke", dof.limit_ke);
  check.finite("limit_kd", dof.limit_kd);
  check.finite("target_q", dof.target_q);
  check.finite("target_qd", dof.target_qd);
  check.finite("target_ke", dof.target_ke);
  check.finite("target_kd", dof.target_kd);
  check.finite("damping", dof.damping);
  check.finite("stiffness", dof.stiffness);
  check.finite("rest_q", dof.rest_q);
  check.non_negative("armature", dof.armature);
  check.non_negative("effort_limit", dof.effort_limit);
  check.non_negative("velocity_limit", dof.velocity_limit);
  check.non_negative("friction", dof.friction);
}

std::vector<JointDofConfig> unlimited_axes() {
  return {JointDofConfig::create_unlimited({1, 0, 0}), JointDofConfig::create_unlimited({0, 1, 0}),
          JointDofConfig::create_unlimited({0, 0, 1})};
}

/// Of three turns about x, y and z.
std::array<double, 4> quaternion_of(double x, double y, double z) {
  const double cx = std::cos(x / 2), sx = std::sin(x / 2), cy = std::cos(y / 2), sy = std::sin(y / 2),
               cz = std::cos(z / 2), sz = std::sin(z / 2);
  return {sx * cy * cz + cx * sy * sz, cx * sy * cz - sx * cy * sz, cx * cy * sz + sx * sy * cz,
          cx * cy * cz - sx * sy * sz};
}

}  // namespace

JointDofConfig JointDofConfig::create_unlimited(const Vec3f& axis) {
  JointDofConfig dof;
  dof.axis = axis;
  dof.limit_ke = dof.limit_kd = 0.0;
  return dof;
}

int ModelBuilder::add_joint(JointType type, int parent, int child,
                            std::span<const JointDofConfig> linear_axes,
                            std::span<const JointDofConfig> angular_axes, const JointArgs& args) {
  return append_joint(Arguments("add_joint"), type, parent, child, linear_axes, angular_axes, args);
}

int ModelBuilder::append_joint(const Arguments& check, JointType type, int parent, int child,
                               std::span<const JointDofConfig> linear_axes,
                               std::span<const JointDofConfig> angular_axes, const JointArgs& args) {
  check.index_or("the world", "parent", parent, body_count(), "body");
  check.index("child", child, body_count(), "body");
  check.require(parent != child, ErrorKind::value, "parent and child are both body ", child,
                ": want two bodies");
  for (const int body : {parent, child}) {
    const int world = body < 0 ? current_world_ : body_world[static_cast<std::size_t>(body)];
    check.require(world == current_world_, ErrorKind::value, "body ", body, " belongs to world ", world,
                  ": want a body of the current world ", current_world_);
  }
  check.require(parent < 0 || body_flags[static_cast<std::size_t>(child)] != BodyFlags::KINEMATIC,
                ErrorKind::value, "child ", child, " is kinematic and parent is body ", parent,
                ": want parent -1 (the world) for a kinematic body");
  const int linear = static_cast<int>(linear_axes.size()), angular = static_cast<int>(angular_axes.size());
  const AxisCount want = axes_of(type);
  check.require(want.linear >= 0 || type == JointType::D6, ErrorKind::value, "type is ",
                static_cast<int>(type), ": want a JointType, 0 to 6");
  if (type == JointType::D6)
    check.require(linear <= 3 && angular <= 3, ErrorKind::value, "a D6 joint got ", linear, " linear and ",
                  angular, " angular axes: want at most 3 of each");
  else
    check.require(linear == want.linear && angular == want.angular, ErrorKind::value, "a ", to_string(type),
                  " joint got ", linear, " linear and ", angular, " angular axes: want ", want.linear,
                  " and ", want.angular);
  const Transformf parent_pose = check.pose("parent_xform", args.parent_xform);
  const Transformf child_pose = check.pose("child_xform", args.child_xform);
  std::vector<JointDofConfig> dofs(linear_axes.begin(), linear_axes.end());
  dofs.insert(dofs.end(), angular_axes.begin(), angular_axes.end());
  for (JointDofConfig& dof : dofs) {
    check_dof(check, dof, type == JointType::DISTANCE);  // a negative distance is no limit
    dof.axis = check.axis("axis", dof.axis);
  }

  const int joint = joint_count();
  append(joint_type, type);
  append(joint_enabled, args.enabled ? 1 : 0);
  append(joint_parent, parent);
  append(joint_child, child);
  append(joint_X_p, parent_pose);
  append(joint_X_c, child_pose);
  append(joint_articulation, -1);
  append(joint_world, current_world_);
  append(joint_dof_dim, {linear, angular});
  append(joint_q_start, joint_coord_count());
  append(joint_qd_start, joint_dof_count());
  joint_label.push_back(args.label.empty() ? text("joint_", joint + 1) : args.label);
  joint_filters_parent_.push_back(
      args.collision_filter_parent.value_or(parent >= 0 || type == JointType::FIXED));
  for (const JointDofConfig& dof : dofs) append_dof(dof);
  append_coords(type, dofs, linear);
  if (joint_filters_parent_.back()) filter_across_joint(joint);
  return joint;
}

void ModelBuilder::append_dof(const JointDofConfig& dof) {
  append(joint_qd, 0.0);
  append(joint_axis, dof.axis);
  append(joint_armature, dof.armature);
  append(joint_friction, dof.friction);
  append(joint_damping, dof.damping);
  append(joint_stiffness, dof.stiffness);
  append(joint_limit_lower, limit(dof.limit_lower));
  append(joint_limit_upper, limit(dof.limit_upper));
  append(joint_limit_ke, dof.limit_ke);
  append(joint_limit_kd, dof.limit_kd);
  append(joint_target_mode, mode_of(dof));
  append(joint_target_ke, dof.target_ke);
  append(joint_target_kd, dof.target_kd);
  append(joint_target_qd, dof.target_qd);
  append(joint_effort_limit, dof.effort_limit);
  append(joint_velocity_limit, dof.velocity_limit);
}

/// One coordinate an axis; three angular axes of a ball, free or distance joint are one quaternion.
void ModelBuilder::append_coords(JointType type, const std::vector<JointDofConfig>& dofs, int linear) {
  const std::size_t scalars = has_quaternion(type) ? static_cast<std::size_t>(linear) : dofs.size();
  for (std::size_t i = 0; i < scalars; ++i) {
    append(joint_q, 0.0);
    append(joint_target_q, target_of(dofs[i]));
    append(joint_rest_q, dofs[i].rest_q);
  }
  if (!has_quaternion(type)) return;
  const std::span<const JointDofConfig> turns = std::span(dofs).subspan(scalars);
  const auto target = quaternion_of(target_of(turns[0]), target_of(turns[1]), target_of(turns[2]));
  for (std::size_t i = 0; i < 4; ++i) {
    append(joint_q, i == 3 ? 1.0 : 0.0);
    append(joint_target_q, target[i]);
    append(joint_rest_q, i == 3 ? 1.0 : 0.0);
  }
}

int ModelBuilder::add_joint_revolute(int parent, int child, const std::optional<JointDofConfig>& axis,
                                     const JointArgs& args) {
  const JointDofConfig dof = axis.value_or(default_joint_cfg);
  return append_joint(Arguments("add_joint_revolute"), JointType::REVOLUTE, parent, child, {}, {&dof, 1},
                      args);
}

int ModelBuilder::add_joint_prismatic(int parent, int child, const std::optional<JointDofConfig>& axis,
                                      const JointArgs& args) {
  const JointDofConfig dof = axis.value_or(default_joint_cfg);
  return append_joint(Arguments("add_joint_prismatic"), JointType::PRISMATIC, parent, child, {&dof, 1}, {},
                      args);
}

int ModelBuilder::add_joint_fixed(int parent, int child, const JointArgs& args) {
  return append_joint(Arguments("add_joint_fixed"), JointType::FIXED, parent, child, {}, {}, args);
}

int ModelBuilder::add_joint_free(int child, const JointArgs& args, int parent) {
  const auto axes = unlimited_axes();
  const int joint =
      append_joint(Arguments("add_joint_free"), JointType::FREE, parent, child, axes, axes, args);
  const Transformf parent_pose =
      parent < 0 ? Transformf{{0, 0, 0}, {0, 0, 0, 1}} : row<Transformf>(body_q, parent);
  const Transformf anchor = parent_pose * row<Transformf>(joint_X_p, joint);
  const Transformf coords =
      inverse(anchor) * row<Transformf>(body_q, child) * row<Transformf>(joint_X_c, joint);
  std::memcpy(joint_q.data() + joint_q_start.back(), &coords, sizeof coords);
  return joint;
}

int ModelBuilder::add_joint_ball(int parent, int child, const std::optional<JointDofConfig>& axis,
                                 const JointArgs& args) {
  const JointDofConfig& given = axis ? *axis : default_joint_cfg;
  std::vector<JointDofConfig> axes(3);
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i].axis = Vec3f{i == 0 ? 1.0f : 0.0f, i == 1 ? 1.0f : 0.0f, i == 2 ? 1.0f : 0.0f};
    axes[i].armature = given.armature;
    axes[i].friction = given.friction;
    axes[i].damping = given.damping;
    axes[i].stiffness = given.stiffness;
    axes[i].actuator_mode = axis ? given.actuator_mode : std::nullopt;
  }
  return append_joint(Arguments("add_joint_ball"), JointType::BALL, parent, child, {}, axes, args);
}

int ModelBuilder::add_joint_d6(int parent, int child, std::span<const JointDofConfig> linear_axes,
                               std::span<const JointDofConfig> angular_axes, const JointArgs& args) {
  return append_joint(Arguments("add_joint_d6"), JointType::D6, parent, child, linear_axes, angular_axes,
                      args);
}

int ModelBuilder::add_joint_distance(int parent, int child, double min_distance, double max_distance,
                                     const JointArgs& args) {
  const Arguments check("add_joint_distance");
  check.finite("min_distance", min_distance);
  check.finite("max_distance", max_distance);
  check.require(min_distance < 0 || max_distance < 0 || min_distance <= max_distance, ErrorKind::value,
                "min_distance is ", min_distance, " and max_distance is ", max_distance,
                ": want min_distance <= max_distance");
  auto linear = unlimited_axes();
  linear[0] = JointDofConfig{};
  linear[0].limit_lower = min_distance;
  linear[0].limit_upper = max_distance;
  return append_joint(check, JointType::DISTANCE, parent, child, linear, unlimited_axes(), args);
}

int ModelBuilder::add_articulation(std::span<const int> joints, const std::string& label) {
  const Arguments check("add_articulation");
  check.require(!joints.empty(), ErrorKind::value, "joints is empty: want at least one joint");
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const int joint = joints[i];
    check.index("a joint", joint, joint_count(), "joint");
    check.require(i == 0 || joint == joints[i - 1] + 1, ErrorKind::value, "joint ", joint, " follows joint ",
                  i == 0 ? joint : joints[i - 1], ": want joints in increasing order without gaps");
    const int owner = joint_articulation[static_cast<std::size_t>(joint)];
    check.require(owner < 0, ErrorKind::value, "joint ", joint, " ('",
                  joint_label[static_cast<std::size_t>(joint)], "') belongs to articulation ", owner,
                  " already: want joints that belong to none");
    const int world = joint_world[static_cast<std::size_t>(joint)];
    check.require(world == current_world_, ErrorKind::value, "joint ", joint, " belongs to world ", world,
                  ": want joints of the current world ", current_world_);
  }
  const int articulation = articulation_count();
  append(articulation_start, joints.front());
  append(articulation_end, joints.back() + 1);
  articulation_label.push_back(label.empty() ? text("articulation_", articulation) : label);
  for (const int joint : joints) joint_articulation[static_cast<std::size_t>(joint)] = articulation;
  return articulation;
}

/// No contacts between the shapes of the two bodies of a joint.
void ModelBuilder::filter_across_joint(int joint) {
  const auto collides = [&](int shape) {
    return shape_flags[static_cast<std::size_t>(shape)] & ShapeFlags::COLLIDE_SHAPES;
  };
  for (const int a : shapes_of(joint_parent[static_cast<std::size_t>(joint)]))
    for (const int b : shapes_of(joint_child[static_cast<std::size_t>(joint)]))
      if (collides(a) && collides(b)) add_shape_collision_filter_pair(a, b);
}

/// The same for one shape and the joints that its body has already.
void ModelBuilder::filter_across_joints(int shape) {
  const int body = shape_body[static_cast<std::size_t>(shape)];
  const auto collides = [&](int other) {
    return shape_flags[static_cast<std::size_t>(other)] & ShapeFlags::COLLIDE_SHAPES;
  };
  for (std::size_t joint = 0; joint < joint_type.size(); ++joint) {
    if (!joint_filters_parent_[joint]) continue;
    const int parent = joint_parent[joint], child = joint_child[joint];
    if (body != parent && body != child) continue;
    for (const int other : shapes_of(body == parent ? child : parent))
      if (collides(other)) add_shape_collision_filter_pair(shape, other);
  }
}

}  // namespace novaphy
