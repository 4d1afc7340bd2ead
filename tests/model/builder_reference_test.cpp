// SPDX-License-Identifier: Apache-2.0
// Builder against Newton: the scenes of tests/support/builder_scenes.py, array by array, bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

const Quatf kTurn{0.18257418274879456f, 0.36514836549758911f, 0.54772257804870605f, 0.73029673099517822f};
const Quatf kIdentity{0, 0, 0, 1};

Transformf pose(float x, float y, float z) {
  return {{x, y, z}, kTurn};
}

/// How many representable numbers lie between two floats; 0 for equal ones (0 and -0 are equal).
std::int64_t steps_between(float a, float b) {
  if (a == b) return 0;
  const auto place = [](float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    return std::int64_t{bits < 0 ? std::numeric_limits<std::int32_t>::min() - bits : bits};
  };
  return std::abs(place(a) - place(b));
}

nlohmann::json reference(const std::string& scene) {
  std::ifstream file(std::string(NOVAPHY_SOURCE_DIR) + "/tests/data/models/" + scene + ".json");
  REQUIRE_MESSAGE(file, "tests/data/models/", scene, ".json is missing");
  return nlohmann::json::parse(file);
}

nlohmann::json sorted_pairs(const nlohmann::json& flat) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i < flat.size(); i += 2) pairs.emplace_back(flat[i], flat[i + 1]);
  std::sort(pairs.begin(), pairs.end());
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [a, b] : pairs) out.push_back(a), out.push_back(b);
  return out;
}

std::int64_t allowed_steps(const std::string& scene, const std::string& name) {
  // NumPy's arctan2 of float32 is not the same on every processor; ours is the double one, rounded.
  return scene.starts_with("soft") && name == "edge_rest_angle" ? 1 : 0;
}

/// Newton measures a cloth mesh before it rounds the positions, we the rounded ones that the solver has; volumes of a
/// soft mesh are LAPACK's determinants in float. By how much of the array's largest value they may differ.
float allowed_share(const std::string& scene, const std::string& name) {
  const bool mass = name.find("mass") != name.npos;
  const bool measured = name == "particle_q" || name.starts_with("tri_") || name.starts_with("edge_rest");
  return (scene == "cloth_mesh" && (mass || measured)) || (scene == "soft_mesh" && mass) ? 1e-6f : 0.0f;
}

void check_array(const std::string& scene, const std::string& name, const DeviceArray& array,
                 nlohmann::json want) {
  auto& values = want.at("values");
  if (name == "shape_contact_pairs") values = sorted_pairs(values);  // ours are sorted
  if (name == "gravity")
    values.erase(values.begin() + array.size(), values.end());  // Newton adds a row for world -1
  REQUIRE_MESSAGE(static_cast<std::size_t>(array.size()) == values.size(), scene, ": ", name, " has ",
                  array.size(), " values, Newton has ", values.size());
  float share = 0.0f;
  if (array.dtype() == DType::f32)
    for (const float value : array.read<float>()) share = std::max(share, std::abs(value));
  share *= allowed_share(scene, name);
  std::size_t different = 0, worst = 0;
  std::int64_t most_steps = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t steps =
        array.dtype() == DType::f32
            ? steps_between(array.read<float>()[i], values[i].get<float>())
            : std::abs(std::int64_t{array.read<std::int32_t>()[i]} - values[i].get<std::int64_t>());
    if (array.dtype() == DType::f32 && std::abs(array.read<float>()[i] - values[i].get<float>()) <= share) continue;
    if (steps > 0) ++different;
    if (steps > most_steps) most_steps = steps, worst = i;
  }
  const std::int64_t allowed = allowed_steps(scene, name);
  CHECK_MESSAGE(most_steps <= allowed, scene, ": ", different, " of ", values.size(), " values of ", name,
                " differ from Newton's, most at place ", worst, " by ", most_steps, " steps, Newton has ",
                values.empty() ? std::string() : values[worst].dump());
}

void check_like_newton(const std::string& scene, const Model& model) {
  const nlohmann::json record = reference(scene);
  CHECK(model.world_count == record.at("world_count").get<int>());
  for (const auto& [name, want] : record.at("arrays").items()) {
    const DeviceArray* array = model.find(name);
    REQUIRE_MESSAGE(array, "the model has no array ", name);
    check_array(scene, name, *array, want);
  }
  model.visit([&](const ArrayInfo& info, const DeviceArray& array) {
    const bool ours_alone = info.name == "soft_contact_material" || info.name == "particle_contact_material";
    CHECK_MESSAGE((ours_alone || array.empty() || record.at("arrays").contains(info.name)), scene,
                  ": Newton has no ", info.name);
  });
  const auto& labels = record.at("labels");
  CHECK(model.body_label == labels.at("body").get<std::vector<std::string>>());
  CHECK(model.shape_label == labels.at("shape").get<std::vector<std::string>>());
  CHECK(model.joint_label == labels.at("joint").get<std::vector<std::string>>());
  CHECK(model.articulation_label == labels.at("articulation").get<std::vector<std::string>>());
}

ShapeArgs at(const Transformf& xform, const std::optional<ShapeConfig>& cfg = {}) {
  ShapeArgs args;
  args.xform = xform;
  args.cfg = cfg;
  return args;
}

void add_primitives(ModelBuilder& b, int body, const std::optional<ShapeConfig>& cfg = {}) {
  b.add_shape_box(body, 0.1, 0.2, 0.3, at(pose(0.1f, 0.2f, 0.3f), cfg));
  b.add_shape_sphere(body, 0.15, at(pose(-0.4f, 0.1f, 0.0f), cfg));
  b.add_shape_capsule(body, 0.12, 0.3, at(pose(0.0f, 0.5f, 0.1f), cfg));
  b.add_shape_cylinder(body, 0.11, 0.25, at(pose(0.0f, -0.5f, 0.2f), cfg));
  b.add_shape_cone(body, 0.13, 0.35, at(pose(0.3f, 0.3f, -0.2f), cfg));
  b.add_shape_ellipsoid(body, 0.3, 0.2, 0.14, at(pose(-0.2f, -0.3f, 0.4f), cfg));
}

void add_arm(ModelBuilder& b) {
  std::vector<int> links;
  for (int i = 0; i < 7; ++i)
    links.push_back(b.add_link(
        {.xform = pose(static_cast<float>(0.1 * i), 0.0f, 1.0f), .mass = 1.0, .label = text("link", i)}));
  for (const int link : links) b.add_shape_capsule(link, 0.05, 0.1);
  const JointDofConfig hinge{.axis = {1, 2, 0},
                             .limit_lower = -1,
                             .limit_upper = 2,
                             .target_q = 0.5,
                             .target_ke = 10,
                             .target_kd = 1,
                             .armature = 0.01};
  const JointDofConfig slide{.axis = {0, 1, 0},
                             .limit_lower = -1,
                             .limit_upper = 2,
                             .target_q = 5,
                             .target_kd = 4,
                             .damping = 0.3,
                             .stiffness = 2,
                             .rest_q = 0.1,
                             .effort_limit = 50,
                             .velocity_limit = 3,
                             .friction = 0.2};
  const JointDofConfig linear[] = {
      {.axis = {0, 0, 1}, .limit_lower = -std::numeric_limits<double>::infinity()}};
  const JointDofConfig angular[] = {{.axis = {1, 0, 0}, .target_q = 0.2},
                                    {.axis = {0, 1, 0}, .actuator_mode = JointTargetMode::EFFORT}};
  const int joints[] = {
      b.add_joint_revolute(-1, links[0], hinge,
                           {.parent_xform = pose(0, 0, 1), .child_xform = pose(0, 0, -0.1f)}),
      b.add_joint_prismatic(links[0], links[1], slide),
      b.add_joint_fixed(links[1], links[2], {.parent_xform = pose(0, 0.1f, 0)}),
      b.add_joint_ball(links[2], links[3], JointDofConfig{.armature = 0.02, .friction = 0.1}),
      b.add_joint_d6(links[3], links[4], linear, angular),
      b.add_joint_distance(links[4], links[5], 0.1, 0.4),
      b.add_joint_free(links[6],
                       {.parent_xform = pose(0, 0.2f, 0), .child_xform = pose(0.1f, 0, 0), .enabled = false},
                       links[5])};
  b.add_articulation(joints, "arm");
}

}  // namespace

TEST_CASE("a soft grid has Newton's particles, tetrahedra, surface and edges") {
  ModelBuilder b;
  b.add_soft_grid({.pos = {0.3f, -0.5f, 1.0f},
                   .rot = kTurn,
                   .vel = {0.1f, 0.2f, -0.3f},
                   .dim_x = 3,
                   .dim_y = 2,
                   .dim_z = 2,
                   .cell_x = 0.1,
                   .cell_y = 0.12,
                   .cell_z = 0.09,
                   .density = 500,
                   .k_mu = 5769.2,
                   .k_lambda = 8653.8,
                   .k_damp = 0.5,
                   .fix_left = true,
                   .tri_ke = 1,
                   .tri_ka = 2,
                   .tri_kd = 3,
                   .tri_drag = 4,
                   .tri_lift = 5,
                   .edge_ke = 6,
                   .edge_kd = 7,
                   .particle_radius = 0.01});
  check_like_newton("soft_grid", *b.finalize());
}

TEST_CASE("a cloth grid has Newton's particles, triangles and edges") {
  ModelBuilder b;
  b.add_cloth_grid({.pos = {0.3f, -0.5f, 1.0f},
                    .rot = kTurn,
                    .vel = {0.1f, 0.2f, -0.3f},
                    .dim_x = 4,
                    .dim_y = 3,
                    .cell_x = 0.1,
                    .cell_y = 0.12,
                    .mass = 0.05,
                    .fix_top = true,
                    .tri = {.tri_ke = 1e3},
                    .edge = {.edge_ke = 10},
                    .particle_radius = 0.02});
  b.add_cloth_grid({.pos = {2, 0, 1},
                    .dim_x = 2,
                    .dim_y = 2,
                    .cell_x = 0.25,
                    .cell_y = 0.25,
                    .mass = 0.1,
                    .reverse_winding = true});
  check_like_newton("cloth_grid", *b.finalize());
}

const std::vector<Vec3f> kMeshVertices{
    {0, 0, 0}, {1, 0.1f, 0}, {0.2f, 0.9f, 0.1f}, {0.1f, 0.2f, 1.1f}, {1, 0.9f, 1.2f}};

TEST_CASE("a soft mesh has Newton's particles, masses, surface and edges") {
  const int indices[] = {0, 1, 2, 3, 1, 2, 3, 4};
  const double k_mu[] = {100}, k_lambda[] = {200}, k_damp[] = {0.5};
  ModelBuilder b;
  b.add_soft_mesh({.pos = {0.3f, -0.5f, 1.0f},
                   .rot = kTurn,
                   .scale = 0.25,
                   .vel = {0.1f, 0.2f, -0.3f},
                   .vertices = kMeshVertices,
                   .indices = indices,
                   .density = 300.0,
                   .k_mu = k_mu,
                   .k_lambda = k_lambda,
                   .k_damp = k_damp,
                   .tri_ke = 1,
                   .tri_ka = 2,
                   .edge_ke = 3,
                   .particle_radius = 0.02});
  b.add_soft_mesh(
      {.pos = {0, 0, 3}, .vertices = kMeshVertices, .indices = indices, .add_surface_mesh_edges = false});
  check_like_newton("soft_mesh", *b.finalize());
}

TEST_CASE("a cloth mesh has Newton's particles, masses, triangles and edges") {
  const int indices[] = {0, 1, 2, 1, 4, 2, 0, 2, 3};
  ModelBuilder b;
  b.add_cloth_mesh({.pos = {0.3f, -0.5f, 1.0f},
                    .rot = kTurn,
                    .scale = 0.5,
                    .vel = {0.1f, 0.2f, -0.3f},
                    .vertices = kMeshVertices,
                    .indices = indices,
                    .density = 0.4,
                    .tri = {.tri_ke = 1e3},
                    .edge = {.edge_ke = 10},
                    .particle_radius = 0.02});
  check_like_newton("cloth_mesh", *b.finalize());
}

TEST_CASE("a particle grid without jitter has Newton's particles") {
  ModelBuilder b;
  b.default_particle_radius = 0.03;
  b.add_particle_grid({.pos = {0.25f, -0.5f, 1},
                       .rot = kTurn,
                       .vel = {0.5f, 0, -1},
                       .dim_x = 3,
                       .dim_y = 2,
                       .dim_z = 4,
                       .cell_x = 0.1,
                       .cell_y = 0.12,
                       .cell_z = 0.09,
                       .mass = 0.2});
  check_like_newton("particle_grid", *b.finalize());
}

TEST_CASE("single springs, triangles, edges and tetrahedra are Newton's") {
  ModelBuilder b;
  for (const Vec3f& p :
       {Vec3f{0, 0, 0}, Vec3f{1, 0, 0}, Vec3f{0.1f, 1.2f, 0}, Vec3f{0.2f, 0.3f, 0.9f}, Vec3f{1, 1, 1}})
    b.add_particle(p, {0, 0, 0}, 0.3);
  b.add_spring(0, 3, 100, 1, 0.5);
  b.add_triangle(0, 1, 2);
  b.add_triangle(1, 4, 2, {.tri_ke = 5.0});
  b.add_edge(0, 4, 1, 2);
  b.add_edge(-1, 3, 0, 1, 0.25, {3.0, 4.0});
  b.add_tetrahedron(0, 1, 2, 3, 100, 200, 3);
  check_like_newton("elements", *b.finalize());
}

TEST_CASE("bodies get Newton's mass, centre of mass and inertia from their shapes") {
  ModelBuilder b;
  const int together = b.add_body({.xform = pose(0, 0, 2), .mass = 4});
  add_primitives(b, together);
  const int hollow = b.add_body({.xform = pose(3, 0, 2)});
  add_primitives(b, hollow, ShapeConfig{.density = 700, .margin = 0.02, .gap = 0.05, .is_solid = false});
  const int locked = b.add_body({.com = Vec3f{0.1f, 0, 0},
                                 .inertia = Mat33f{{{1, 0, 0}, {0, 2, 0}, {0, 0, 2.5f}}},
                                 .mass = 2,
                                 .lock_inertia = true});
  b.add_shape_box(locked);
  b.add_shape_sphere(b.add_body({.is_kinematic = true}), 0.5);
  b.add_shape_plane({1, 2, 2, -3}, 2, 3);
  b.add_shape_plane({0, 0, 1, 0}, 10, 10, -1, at(pose(0, 0, 1)));
  b.add_ground_plane(-0.5);
  b.add_site(together, pose(0.1f, 0, 0));
  b.add_shape_box(together, 0.5, 0.5, 0.5, {.as_site = true});
  check_like_newton("shapes", *b.finalize());
}

TEST_CASE("with Y up gravity and the ground plane turn") {
  ModelBuilder b(Axis::Y);
  b.add_ground_plane(0.25);
  b.add_body({.xform = pose(0, 1, 0)});
  check_like_newton("ground_y", *b.finalize());
}

TEST_CASE("joints of every type have Newton's coordinates, axes and defaults") {
  ModelBuilder b;
  add_arm(b);
  b.add_joint_revolute(-1, b.add_link());
  check_like_newton("joints", *b.finalize());
}

TEST_CASE("candidate pairs follow bodies, groups, flags and filters as in Newton") {
  ModelBuilder b;
  b.add_ground_plane();
  for (const int group : {1, 1, 2, -1, -1, -2, 0}) {
    const int body = b.add_body();
    b.add_shape_sphere(body, 1, {.cfg = ShapeConfig{.collision_group = group}});
    b.add_shape_box(body, 0.5, 0.5, 0.5, {.cfg = ShapeConfig{.collision_group = group}});
  }
  b.add_shape_box(-1);
  b.add_shape_sphere(0, 1, {.cfg = ShapeConfig{.has_shape_collision = false}});
  b.add_shape_collision_filter_pair(1, 3);
  b.add_shape_collision_filter_pair(4, 2);
  check_like_newton("collisions", *b.finalize());
}

TEST_CASE("replicated worlds are spread, numbered and kept apart as in Newton") {
  ModelBuilder part;
  add_arm(part);
  part.add_body({.xform = pose(0, 0, 3)});
  part.add_shape_box(part.body_count() - 1);
  part.add_particle({1, 0, 0}, {0, 0, 0}, 1);
  part.add_particle({0, 1, 0}, {0, 0, 0}, 1);
  part.add_spring(0, 1, 1, 2, 0);
  part.add_shape_box(-1, 0.5, 0.5, 0.5, at(pose(0, 3, 0)));
  part.add_joint_revolute(-1, part.add_link(), {}, {.parent_xform = pose(0.1f, 0, 0)});
  ModelBuilder b;
  b.add_ground_plane();
  b.replicate(part, 5, {2, 3, 0});
  b.begin_world("moon", Vec3f{0, 0, -1.62f});
  b.add_shape_sphere(b.add_body());
  b.end_world();
  b.add_shape_sphere(-1);
  check_like_newton("worlds", *b.finalize());
}

TEST_CASE("a builder added with a turned frame moves as in Newton") {
  ModelBuilder part(Axis::Z, Vec3f{0, 0, -3.7f});
  add_arm(part);
  part.add_body({.xform = pose(0, 0, 3)});
  part.add_shape_box(part.body_count() - 1);
  part.add_shape_box(-1, 0.5, 0.5, 0.5, at(pose(0, 3, 0)));
  ModelBuilder b;
  b.add_body();
  b.add_builder(part, pose(1, 2, 3), "left");
  b.add_builder(part);
  check_like_newton("added", *b.finalize());
}

}  // namespace novaphy
