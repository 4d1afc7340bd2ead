// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: joints, articulations, and what they refuse.
#include <doctest/doctest.h>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

ModelBuilder links(int count) {
  ModelBuilder b;
  for (int i = 0; i < count; ++i) b.add_link({.mass = 1});
  return b;
}

std::vector<float> numbers(const DeviceArray& array) {
  const auto values = array.read<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a joint takes the builder's default axis where none is given") {
  ModelBuilder b = links(2);
  b.default_joint_cfg.armature = 0.5;
  b.default_joint_cfg.axis = {0, 0, 2};
  b.add_articulation(
      {b.add_joint_revolute(-1, 0), b.add_joint_prismatic(0, 1, JointDofConfig{.axis = {0, 3, 4}})});
  const auto m = b.finalize();
  CHECK(numbers(m->joint_axis) == std::vector<float>{0, 0, 1, 0, 0.6f, 0.8f});
  CHECK(numbers(m->joint_armature) == std::vector<float>{0.5f, 0});
  CHECK(numbers(m->joint_limit_lower) == std::vector<float>{-1e10f, -1e10f});
  CHECK(m->joint_label == std::vector<std::string>{"joint_1", "joint_2"});
}

TEST_CASE("the drive's mode follows from the gains unless it is given") {
  ModelBuilder b = links(4);
  b.add_articulation(
      {b.add_joint_revolute(-1, 0),
       b.add_joint_revolute(0, 1, JointDofConfig{.target_ke = 1, .target_kd = 1}),
       b.add_joint_revolute(1, 2, JointDofConfig{.target_kd = 1}),
       b.add_joint_revolute(2, 3, JointDofConfig{.target_ke = 1, .actuator_mode = JointTargetMode::EFFORT})});
  CHECK(b.joint_target_mode == std::vector<std::int32_t>{0, 1, 2, 4});
}

TEST_CASE("a target outside the limits becomes their midpoint") {
  ModelBuilder b = links(2);
  b.add_joint_revolute(-1, 0, JointDofConfig{.limit_lower = -1, .limit_upper = 3, .target_q = 5});
  b.add_joint_revolute(-1, 1, JointDofConfig{.limit_lower = -1, .limit_upper = 3, .target_q = 2});
  CHECK(b.joint_target_q == std::vector<float>{1, 2});
}

TEST_CASE("coordinates and speeds are counted from joint to joint") {
  ModelBuilder b = links(3);
  b.add_articulation({b.add_joint_free(0), b.add_joint_ball(0, 1), b.add_joint_fixed(1, 2)});
  const auto m = b.finalize();
  const auto q = m->joint_q_start.read<std::int32_t>(), qd = m->joint_qd_start.read<std::int32_t>();
  CHECK(std::vector<int>(q.begin(), q.end()) == std::vector<int>{0, 7, 11, 11});
  CHECK(std::vector<int>(qd.begin(), qd.end()) == std::vector<int>{0, 6, 9, 9});
  CHECK(m->joint_coord_count == 11);
  CHECK(m->joint_dof_count == 9);
  CHECK(numbers(m->joint_q)[6] == 1);
  CHECK(numbers(m->joint_q)[10] == 1);
}

TEST_CASE("shapes of the two bodies of a joint do not collide, whichever came first") {
  ModelBuilder b = links(3);
  b.add_shape_box(0);
  b.add_shape_box(1);
  b.add_articulation({b.add_joint_revolute(-1, 0), b.add_joint_revolute(0, 1),
                      b.add_joint_revolute(1, 2, {}, {.collision_filter_parent = false})});
  b.add_shape_box(0);
  b.add_shape_box(2);
  b.add_ground_plane();
  const auto m = b.finalize();
  const auto flat = m->shape_contact_pairs.read<std::int32_t>();
  CHECK(std::vector<int>(flat.begin(), flat.end()) ==
        std::vector<int>{0, 3, 0, 4, 1, 3, 1, 4, 2, 3, 2, 4, 3, 4});
}

TEST_CASE("a joint that cannot be is refused") {
  ModelBuilder b = links(2);
  CHECK_FAILS(b.add_joint_revolute(5, 0), index,
              "add_joint_revolute: parent is 5: the builder has 2 bodies, want -1 (the world) or an index "
              "from 0 to 1");
  CHECK_FAILS(b.add_joint_revolute(0, -1), index,
              "add_joint_revolute: child is -1: the builder has 2 bodies, want an index from 0 to 1");
  CHECK_FAILS(b.add_joint_fixed(1, 1), value,
              "add_joint_fixed: parent and child are both body 1: want two bodies");
  CHECK_FAILS(b.add_joint_revolute(0, 1, JointDofConfig{.axis = {0, 0, 0}}), value,
              "add_joint_revolute: axis is (0, 0, 0): want an axis whose length is not 0");
  CHECK_FAILS(b.add_joint_revolute(0, 1, JointDofConfig{.limit_lower = 1, .limit_upper = -1}), value,
              "add_joint_revolute: limit_lower is 1 and limit_upper is -1: want limit_lower <= limit_upper");
  CHECK_FAILS(b.add_joint_revolute(0, 1, JointDofConfig{.armature = -1}), value,
              "add_joint_revolute: armature is -1: want a finite number of at least 0");
  CHECK_FAILS(
      b.add_joint_distance(0, 1, 2, 1), value,
      "add_joint_distance: min_distance is 2 and max_distance is 1: want min_distance <= max_distance");
  CHECK_FAILS(b.add_joint_fixed(0, 1, {.child_xform = Transformf{{0, 0, 0}, {0, 0, 0, 0.5f}}}), value,
              "add_joint_fixed: child_xform is the quaternion (0, 0, 0, 0.5) of length 0.5: want x, y, z, w "
              "of length 1");
  const JointDofConfig axes[4] = {};
  CHECK_FAILS(b.add_joint(JointType::REVOLUTE, 0, 1, {axes, 1}, {}), value,
              "add_joint: a REVOLUTE joint got 1 linear and 0 angular axes: want 0 and 1");
  CHECK_FAILS(b.add_joint_d6(0, 1, axes, {}), value,
              "add_joint_d6: a D6 joint got 4 linear and 0 angular axes: want at most 3 of each");
  const int still = b.add_link({.is_kinematic = true});
  CHECK_FAILS(b.add_joint_fixed(0, still), value,
              "add_joint_fixed: child 2 is kinematic and parent is body 0: want parent -1 (the world) for a "
              "kinematic body");
  CHECK(b.joint_count() == 0);
  CHECK(b.joint_q.empty());
  b.begin_world();
  CHECK_FAILS(b.add_joint_fixed(-1, 0), value,
              "add_joint_fixed: body 0 belongs to world -1: want a body of the current world 0");
}

TEST_CASE("an articulation that cannot be is refused") {
  ModelBuilder b = links(4);
  for (int i = 0; i < 4; ++i) b.add_joint_revolute(i - 1, i);
  CHECK_FAILS(b.add_articulation(std::span<const int>{}), value,
              "add_articulation: joints is empty: want at least one joint");
  CHECK_FAILS(b.add_articulation({0, 2}), value,
              "add_articulation: joint 2 follows joint 0: want joints in increasing order without gaps");
  CHECK_FAILS(b.add_articulation({9}), index,
              "add_articulation: a joint is 9: the builder has 4 joints, want an index from 0 to 3");
  b.add_articulation({0, 1}, "leg");
  CHECK_FAILS(b.add_articulation({1, 2}), value,
              "add_articulation: joint 1 ('joint_2') belongs to articulation 0 already: want joints that "
              "belong to none");
  CHECK(b.articulation_count() == 1);
}

TEST_CASE("finalize refuses loops of joints") {
  ModelBuilder b = links(3);
  b.add_articulation({b.add_joint_revolute(-1, 0), b.add_joint_revolute(0, 1), b.add_joint_revolute(1, 2)});
  b.add_joint_revolute(0, 2, {}, {.label = "knee"});
  CHECK_FAILS(b.finalize(), value,
              "finalize: joint 3 ('knee') closes a loop: body 2 ('body_2') and body 0 ('body_0') are "
              "connected already; want a "
              "tree of joints (add_body adds a free joint to the world, add_link does not)");
  ModelBuilder twice;
  twice.add_joint_revolute(-1, twice.add_body({.label = "wheel"}));
  CHECK_FAILS(twice.finalize(), value,
              "finalize: joint 1 ('joint_2') closes a loop: body 0 ('wheel') and the world are connected "
              "already; want a tree of "
              "joints (add_body adds a free joint to the world, add_link does not)");
}

TEST_CASE("finalize refuses a body in two articulations and joints in none") {
  ModelBuilder b = links(3);
  b.add_joint_revolute(-1, 0);
  b.add_joint_revolute(0, 1);
  b.add_articulation({0});
  b.add_articulation({1});
  CHECK_FAILS(b.finalize(), value,
              "finalize: body 0 ('body_0') belongs to articulations 0 and 1: want all connected joints in "
              "one articulation");
  ModelBuilder orphan = links(2);
  orphan.add_joint_revolute(-1, 0);  // a single joint to the world needs no articulation
  CHECK(orphan.finalize()->joint_count == 1);
  orphan.add_joint_revolute(0, 1);
  CHECK_FAILS(orphan.finalize(), value,
              "finalize: joint 1 ('joint_2') belongs to no articulation: call add_articulation with the "
              "joints of its mechanism");
}

}  // namespace novaphy
