// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: worlds, copies of builders, columns, and what finalize refuses.
#include <doctest/doctest.h>

#include <limits>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

ModelBuilder one_ball() {
  ModelBuilder b;
  b.add_shape_sphere(b.add_body({.label = "ball"}), 0.1);
  b.add_particle({0, 0, 1}, {1, 0, 0}, 1);
  return b;
}

std::vector<int> integers(const DeviceArray& array) {
  const auto values = array.read<std::int32_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("what is added between begin_world and end_world belongs to that world") {
  ModelBuilder b;
  b.add_ground_plane();
  CHECK(b.current_world() == -1);
  CHECK(b.begin_world() == 0);
  b.add_shape_sphere(b.add_body());
  b.end_world();
  CHECK(b.add_world(one_ball()) == 1);
  const auto m = b.finalize();
  CHECK(m->world_count == 2);
  CHECK(integers(m->body_world) == std::vector<int>{0, 1});
  CHECK(integers(m->shape_world) == std::vector<int>{-1, 0, 1});
  CHECK(integers(m->joint_world) == std::vector<int>{0, 1});
  CHECK(integers(m->particle_world) == std::vector<int>{1});
  CHECK(integers(m->shape_contact_pairs) == std::vector<int>{0, 1, 0, 2});
  CHECK(m->gravity.shape() == Shape{2, 3});
}

TEST_CASE("worlds do not nest") {
  ModelBuilder b;
  CHECK_FAILS(b.end_world(), generic, "end_world: no world has begun: call begin_world first");
  b.begin_world();
  CHECK_FAILS(b.begin_world(), generic,
              "begin_world: world 0 has not ended: call end_world first, worlds do not nest");
  CHECK_FAILS(b.replicate(one_ball(), 1), generic,
              "begin_world: world 0 has not ended: call end_world first, worlds do not nest");
  b.end_world();
  ModelBuilder outer;
  CHECK_FAILS(
      outer.add_builder(b), value,
      "add_builder: the builder has 1 worlds of its own: want a builder without worlds, they do not nest");
}

TEST_CASE("an added builder keeps its order, its labels get the prefix") {
  ModelBuilder b = one_ball();
  b.add_builder(one_ball(), Transformf{{5, 0, 0}, {0, 0, 0, 1}}, "right");
  CHECK(b.body_label == std::vector<std::string>{"ball", "right/ball"});
  CHECK(b.joint_label[1] == "right/ball_free_joint");
  CHECK(b.shape_body == std::vector<std::int32_t>{0, 1});
  CHECK(b.body_q[7] == 5);
  CHECK(b.joint_q[7] == 5);
  CHECK(b.particle_q[3] == 5);
  CHECK(b.joint_q_start == std::vector<std::int32_t>{0, 7});
  CHECK(b.articulation_start == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("a turned copy turns particles, velocities and twists") {
  const float half = std::sqrt(0.5f);
  ModelBuilder part = one_ball();
  part.body_qd[0] = 2;
  ModelBuilder b;
  b.add_builder(part, Transformf{{0, 0, 0}, {0, 0, half, half}});  // a quarter turn about Z
  CHECK(b.particle_qd[1] == doctest::Approx(1));
  CHECK(b.body_qd[1] == doctest::Approx(2));
  CHECK(b.body_q[5] == doctest::Approx(half));
}

TEST_CASE("a builder may be added to itself") {
  ModelBuilder b = one_ball();
  b.add_builder(b);
  CHECK(b.body_count() == 2);
  CHECK(b.finalize()->shape_contact_pairs.rows() == 1);
}

TEST_CASE("copies go on a line, a square or a cube around the middle, never below the ground") {
  ModelBuilder line, square, cube;
  line.replicate(one_ball(), 3, {2, 0, 0});
  CHECK(line.body_q[0] == -2);
  CHECK(line.body_q[14] == 2);
  square.replicate(one_ball(), 4, {2, 2, 0});
  CHECK(square.body_q[0] == -1);
  CHECK(square.body_q[1] == -1);
  CHECK(square.body_q[7] == 1);
  CHECK(square.body_q[8] == -1);
  cube.replicate(one_ball(), 8, {1, 1, 1});
  CHECK(cube.body_q[2] == 0);
  CHECK(cube.body_q[7 * 4 + 2] == 1);
  line.replicate(one_ball(), 0);
  CHECK(line.world_count() == 3);
  CHECK_FAILS(line.replicate(one_ball(), -1), value, "replicate: copy_count is -1: want at least 0");
}

TEST_CASE("builders with different up axes do not mix, and a failed world leaves nothing behind") {
  ModelBuilder b, other(Axis::Y);
  CHECK_FAILS(b.add_builder(other), value, "add_builder: the builder has up_axis Y: want Z, as here");
  CHECK_FAILS(b.add_world(other), value, "add_builder: the builder has up_axis Y: want Z, as here");
  CHECK(b.world_count() == 0);
  CHECK(b.current_world() == -1);
  CHECK(b.finalize()->world_count == 1);
}

TEST_CASE("a thousand worlds are finalized without pairs across worlds") {
  ModelBuilder b;
  b.add_ground_plane();
  b.replicate(one_ball(), 1000);
  const auto m = b.finalize();
  CHECK(m->world_count == 1000);
  CHECK(m->shape_contact_pairs.rows() == 1000);
}

TEST_CASE("start values may be changed in the columns") {
  ModelBuilder b = one_ball();
  b.joint_q[2] = 3;
  b.particle_mass[0] = 4;
  const auto m = b.finalize();
  CHECK(m->joint_q.read<float>()[2] == 3);
  CHECK(m->particle_inv_mass.read<float>()[0] == 0.25f);
}

TEST_CASE("finalize refuses columns that do not hold together") {
  const auto broken = [](auto change) {
    ModelBuilder b = one_ball();
    b.add_particle({0, 0, 0}, {0, 0, 0}, 1);
    b.add_spring(0, 1, 1, 1, 0);
    change(b);
    return failure_of([&] { b.finalize(); });
  };
  CHECK(broken([](ModelBuilder& b) { b.particle_q.push_back(1); }).message ==
        "finalize: column particle_q has 7 values: want 6, 3 for each of 2 (only add_* calls may change the "
        "length)");
  CHECK(broken([](ModelBuilder& b) { b.particle_qd[4] = std::numeric_limits<float>::infinity(); }).message ==
        "finalize: particle_qd is inf in row 1: want finite numbers");
  CHECK(broken([](ModelBuilder& b) { b.particle_mass[1] = -1; }).message ==
        "finalize: particle_mass is -1 in row 1: want at least 0");
  CHECK(broken([](ModelBuilder& b) { b.spring_indices[1] = 2; }).message ==
        "finalize: spring_indices holds 2 at place 1: there are 2 particles");
  CHECK(broken([](ModelBuilder& b) { b.spring_indices[1] = 2; }).kind == ErrorKind::index);
  CHECK(broken([](ModelBuilder& b) { b.joint_child[0] = 4; }).message ==
        "finalize: joint 0 ('ball_free_joint') has child 4, which is no body: there are 1 bodies");
  CHECK(broken([](ModelBuilder& b) { b.body_world[0] = 3; }).message ==
        "finalize: a *_world column holds 3 at place 0: there are 0 worlds");
  CHECK(broken([](ModelBuilder& b) { b.particle_max_velocity = 0; }).message ==
        "finalize: particle_max_velocity is 0: want a finite number above 0");
  CHECK(broken([](ModelBuilder&) {}).message.empty());
}

TEST_CASE("gravity that is not finite is refused") {
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK_FAILS(ModelBuilder(Axis::Z, Vec3f{0, 0, infinite}), value,
              "ModelBuilder: gravity is (0, 0, inf): want finite numbers");
  ModelBuilder b;
  CHECK_FAILS(b.begin_world("", Vec3f{infinite, 0, 0}), value,
              "begin_world: gravity is (inf, 0, 0): want finite numbers");
  CHECK(b.current_world() == -1);
}

}  // namespace novaphy
