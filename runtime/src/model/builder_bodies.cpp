// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: bodies, shapes and what shapes weigh.
#include <algorithm>
#include <cmath>

#include "model/builder_support.hpp"
#include "model/mass_properties.hpp"

namespace novaphy {
namespace {

/// What the components of a shape's scale are called; null = not used.
struct SizeNames {
  const char* name[3];
};
SizeNames size_names(GeoType type) {
  switch (type) {
    case GeoType::PLANE:
      return {{"width", "length", nullptr}};
    case GeoType::SPHERE:
      return {{"radius", nullptr, nullptr}};
    case GeoType::CAPSULE:
    case GeoType::CYLINDER:
    case GeoType::CONE:
      return {{"radius", "half_height", nullptr}};
    case GeoType::ELLIPSOID:
      return {{"rx", "ry", "rz"}};
    case GeoType::BOX:
      return {{"hx", "hy", "hz"}};
    default:
      return {{nullptr, nullptr, nullptr}};
  }
}

void check_config(const Arguments& check, const ShapeConfig& cfg) {
  check.non_negative("density", cfg.density);
  check.finite("ke", cfg.ke);
  check.finite("kd", cfg.kd);
  check.finite("kf", cfg.kf);
  check.finite("ka", cfg.ka);
  check.finite("mu", cfg.mu);
  check.finite("restitution", cfg.restitution);
  check.finite("mu_torsional", cfg.mu_torsional);
  check.finite("mu_rolling", cfg.mu_rolling);
  check.non_negative("margin", cfg.margin);
  if (cfg.gap) check.non_negative("gap", *cfg.gap);
}

/// A shell needs a wall that fits into the shape.
void check_wall(const Arguments& check, GeoType type, const Vec3f& scale, double thickness) {
  const SizeNames names = size_names(type);
  const float sizes[3] = {scale.x, scale.y, scale.z};
  for (int i = 0; i < 3; ++i) {
    const bool ends_count = type != GeoType::CAPSULE || i == 0;
    check.require(!names.name[i] || !ends_count || thickness < sizes[i], ErrorKind::value, "margin is ",
                  thickness, ", the wall of a hollow shape, and ", names.name[i] ? names.name[i] : "", " is ",
                  sizes[i], ": want a margin below it");
  }
}

/// The rotation that takes +Z to `normal`, the shorter way.
Quatf turn_from_z(const Vec3f& normal) {
  if (normal.z < -0.999999f) return {1, 0, 0, 0};  // half a turn: the sum below would be noise
  const Vec3f z{0, 0, 1};
  const Vec3f c = cross(z, normal);
  return normalize(Quatf{c.x, c.y, c.z, 1.0f + dot(z, normal)});
}

}  // namespace

void ShapeConfig::mark_as_site() {
  is_site = true;
  has_shape_collision = has_particle_collision = false;
  density = 0.0;
  collision_group = 0;
}

int ShapeConfig::flags() const {
  return (is_visible ? ShapeFlags::VISIBLE : 0) | (has_shape_collision ? ShapeFlags::COLLIDE_SHAPES : 0) |
         (has_particle_collision ? ShapeFlags::COLLIDE_PARTICLES : 0) | (is_site ? ShapeFlags::SITE : 0);
}

int ModelBuilder::add_link(const BodyArgs& args) {
  const Arguments check("add_link");
  const Transformf pose = check.pose("xform", args.xform);
  const Vec3f com = args.com.value_or(Vec3f{0, 0, 0});
  const Mat33f inertia = args.inertia.value_or(Mat33f{});
  check.finite("com", com);
  check.inertia("inertia", inertia);
  check.non_negative("mass", args.mass);
  const int body = body_count();
  append(body_q, pose);
  append(body_qd, Spatialf{{0, 0, 0}, {0, 0, 0}});
  append(body_com, com);
  append(body_mass, args.mass);
  append(body_inertia, inertia);
  append(body_flags, args.is_kinematic ? BodyFlags::KINEMATIC : BodyFlags::DYNAMIC);
  append(body_world, current_world_);
  body_label.push_back(args.label.empty() ? text("body_", body) : args.label);
  exact_body_mass_.push_back(args.mass);
  body_lock_inertia_.push_back(args.lock_inertia);
  body_shapes_.emplace_back();
  return body;
}

int ModelBuilder::add_body(const BodyArgs& args) {
  const int body = add_link(args);
  JointArgs joint;
  if (!args.label.empty()) joint.label = args.label + "_free_joint";
  add_articulation({add_joint_free(body, joint)}, args.label.empty() ? "" : args.label + "_articulation");
  return body;
}

int ModelBuilder::add_shape(int body, GeoType type, const Vec3f& scale, const ShapeArgs& args,
                            bool is_static) {
  return append_shape(Arguments("add_shape"), body, type, {scale.x, scale.y, scale.z}, args, is_static);
}

int ModelBuilder::append_shape(const Arguments& check, int body, GeoType type,
                               const std::array<double, 3>& scale, const ShapeArgs& args, bool is_static) {
  check.index_or("the world", "body", body, body_count(), "body");
  check.require(size_names(type).name[0], ErrorKind::unsupported_feature, "shapes of type ", to_string(type),
                " are not supported: want PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX or CONE");
  for (int i = 0; i < 3; ++i)
    if (const char* name = size_names(type).name[i])
      check.non_negative(name, scale[static_cast<std::size_t>(i)]);
  const Transformf pose = check.pose("xform", args.xform);
  ShapeConfig cfg = args.cfg.value_or(default_shape_cfg);
  if (args.as_site || cfg.is_site) cfg.mark_as_site();
  check_config(check, cfg);
  const double gap = cfg.gap.value_or(rigid_gap);
  check.non_negative("rigid_gap", gap);
  const Vec3f size{static_cast<float>(scale[0]), static_cast<float>(scale[1]), static_cast<float>(scale[2])};
  const bool has_mass =
      !is_static && body >= 0 && cfg.density > 0 && !body_lock_inertia_[static_cast<std::size_t>(body)];
  if (has_mass && !cfg.is_solid) check_wall(check, type, size, cfg.margin);

  const int shape = shape_count();
  append(shape_body, body);
  append(shape_type, type);
  append(shape_transform, pose);
  append(shape_scale, size);
  append(shape_flags, cfg.flags());
  append(shape_margin, cfg.margin);
  append(shape_gap, gap);
  append(shape_collision_group, cfg.collision_group);
  append(shape_material_ke, cfg.ke);
  append(shape_material_kd, cfg.kd);
  append(shape_material_kf, cfg.kf);
  append(shape_material_ka, cfg.ka);
  append(shape_material_mu, cfg.mu);
  append(shape_material_restitution, cfg.restitution);
  append(shape_material_mu_torsional, cfg.mu_torsional);
  append(shape_material_mu_rolling, cfg.mu_rolling);
  append(shape_world, current_world_);
  shape_label.push_back(args.label.empty() ? text("shape_", shape) : args.label);
  shapes_of(body).push_back(shape);
  if (cfg.has_shape_collision && cfg.collision_filter_parent) filter_across_joints(shape);
  if (has_mass) add_mass(body, type, cfg, size, pose);
  return shape;
}

/// Masses add up, the centre of mass is their mean, inertias are moved to it.
void ModelBuilder::add_mass(int body, GeoType type, const ShapeConfig& cfg, const Vec3f& scale,
                            const Transformf& pose) {
  const MassProperties shape = cfg.is_solid ? solid_mass_properties(type, scale, cfg.density)
                                            : shell_mass_properties(type, scale, cfg.density, cfg.margin);
  const auto i = static_cast<std::size_t>(body);
  // The exact sum, unless somebody has changed the column.
  const double old_mass =
      static_cast<float>(exact_body_mass_[i]) == body_mass[i] ? exact_body_mass_[i] : double{body_mass[i]};
  const double mass = old_mass + shape.mass;
  if (mass == 0) return;
  const Vec3f at = transform_point(pose, shape.com), old_com = row<Vec3f>(body_com, body);
  const Vec3f com = (old_com * static_cast<float>(old_mass) + at * static_cast<float>(shape.mass)) /
                    static_cast<float>(mass);
  const Mat33f inertia =
      shifted_inertia(old_mass, row<Mat33f>(body_inertia, body), com - old_com, {0, 0, 0, 1}) +
      shifted_inertia(shape.mass, shape.inertia, com - at, pose.q);
  exact_body_mass_[i] = mass;
  body_mass[i] = static_cast<float>(mass);
  set_row(body_com, body, com);
  set_row(body_inertia, body, inertia);
}

int ModelBuilder::add_shape_plane(const std::array<double, 4>& plane, double width, double length, int body,
                                  const ShapeArgs& args) {
  const Arguments check("add_shape_plane");
  ShapeArgs placed = args;
  if (!args.xform) {
    for (const double value : plane) check.finite("plane", value);
    const auto [a, b, c, d] = plane;
    const double norm = std::sqrt(a * a + b * b + c * c);
    check.require(norm > 0, ErrorKind::value, "plane is (", a, ", ", b, ", ", c, ", ", d,
                  "): want a normal (a, b, c) whose length is not 0");
    const double height = -(d / norm);
    const double n[3] = {a / norm, b / norm, c / norm};
    const auto component = [&](int i) { return static_cast<float>(height * n[i]); };
    const Vec3f normal{static_cast<float>(n[0]), static_cast<float>(n[1]), static_cast<float>(n[2])};
    placed.xform = Transformf{{component(0), component(1), component(2)}, turn_from_z(normal)};
  }
  return append_shape(check, body, GeoType::PLANE, {width, length, 0}, placed, true);
}

int ModelBuilder::add_ground_plane(double height, std::optional<ShapeConfig> cfg, const std::string& label) {
  Arguments("add_ground_plane").finite("height", height);
  const Vec3f up = up_vector();
  ShapeArgs args;
  args.cfg = std::move(cfg);
  args.label = label;
  return add_shape_plane({up.x, up.y, up.z, -height}, 0, 0, -1, args);
}

int ModelBuilder::add_shape_box(int body, double hx, double hy, double hz, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_box"), body, GeoType::BOX, {hx, hy, hz}, args, false);
}

int ModelBuilder::add_shape_sphere(int body, double radius, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_sphere"), body, GeoType::SPHERE, {radius, 0, 0}, args, false);
}

int ModelBuilder::add_shape_ellipsoid(int body, double rx, double ry, double rz, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_ellipsoid"), body, GeoType::ELLIPSOID, {rx, ry, rz}, args, false);
}

int ModelBuilder::add_shape_capsule(int body, double radius, double half_height, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_capsule"), body, GeoType::CAPSULE, {radius, half_height, 0}, args,
                      false);
}

int ModelBuilder::add_shape_cylinder(int body, double radius, double half_height, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_cylinder"), body, GeoType::CYLINDER, {radius, half_height, 0},
                      args, false);
}

int ModelBuilder::add_shape_cone(int body, double radius, double half_height, const ShapeArgs& args) {
  return append_shape(Arguments("add_shape_cone"), body, GeoType::CONE, {radius, half_height, 0}, args,
                      false);
}

int ModelBuilder::add_site(int body, const std::optional<Transformf>& xform, GeoType type, const Vec3f& scale,
                           const std::string& label, bool visible) {
  ShapeConfig cfg;
  cfg.mark_as_site();
  cfg.is_visible = visible;
  ShapeArgs args;
  args.xform = xform;
  args.cfg = cfg;
  args.label = label;
  return append_shape(Arguments("add_site"), body, type, {scale.x, scale.y, scale.z}, args, true);
}

void ModelBuilder::add_shape_collision_filter_pair(int shape_a, int shape_b) {
  const Arguments check("add_shape_collision_filter_pair");
  check.index("shape_a", shape_a, shape_count(), "shape");
  check.index("shape_b", shape_b, shape_count(), "shape");
  check.require(shape_a != shape_b, ErrorKind::value, "shape_a and shape_b are both ", shape_a,
                ": want two shapes");
  shape_filter_pairs_.insert(std::minmax(shape_a, shape_b));
}

}  // namespace novaphy
