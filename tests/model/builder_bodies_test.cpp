// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: bodies, shapes, sites, and what they refuse.
#include <doctest/doctest.h>

#include <limits>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
TEST_CASE("the dice of 4 kg and a box of 8 kg weighs 12 kg and turns like the box") {
  ModelBuilder b;
  const int body = b.add_body({.mass = 4});
  b.add_shape_box(body, 0.1, 0.1, 0.1);
  const auto m = b.finalize();
  CHECK(m->body_mass.read<float>()[0] == 12);
  CHECK(m->body_inertia.read<Mat33f>()[0].m[0][0] == doctest::Approx(0.05333334));
  CHECK(m->body_inv_mass.read<float>()[0] == 1.0f / 12);
  CHECK(m->body_inv_inertia.read<Mat33f>()[0].m[2][2] == doctest::Approx(18.75));
}

TEST_CASE("a body floats on a free joint that belongs to an articulation of its own") {
  ModelBuilder b;
  const int body = b.add_body({.xform = Transformf{{1, 2, 3}, {0, 0, 0, 1}}, .label = "die"});
  CHECK(body == 0);
  CHECK(b.joint_count() == 1);
  CHECK(b.articulation_count() == 1);
  CHECK(b.joint_type[0] == static_cast<int>(JointType::FREE));
  CHECK(b.joint_q == std::vector<float>{1, 2, 3, 0, 0, 0, 1});
  CHECK(b.body_label[0] == "die");
  CHECK(b.joint_label[0] == "die_free_joint");
  CHECK(b.articulation_label[0] == "die_articulation");
  CHECK(b.add_link() == 1);
  CHECK(b.joint_count() == 1);
  CHECK(b.body_label[1] == "body_1");
}

TEST_CASE("shapes have Newton's defaults") {
  ModelBuilder b;
  CHECK(b.add_shape_sphere(-1) == 0);
  const auto m = b.finalize();
  CHECK(m->shape_material_ke.read<float>()[0] == 2500);
  CHECK(m->shape_material_kd.read<float>()[0] == 100);
  CHECK(m->shape_material_kf.read<float>()[0] == 1000);
  CHECK(m->shape_material_mu.read<float>()[0] == 1);
  CHECK(m->shape_gap.read<float>()[0] == 0.1f);
  CHECK(m->shape_flags.read<std::int32_t>()[0] == 7);
  CHECK(m->shape_scale.read<Vec3f>()[0].x == 1);
  CHECK(m->shape_body.read<std::int32_t>()[0] == -1);
}

TEST_CASE("the builder's default configuration and gap are those of the next shapes") {
  ModelBuilder b;
  b.default_shape_cfg.ke = 7;
  b.rigid_gap = 0.02;
  b.add_shape_box(-1);
  b.add_shape_box(-1, 1, 1, 1, {.cfg = ShapeConfig{.gap = 0.5}});
  CHECK(b.shape_material_ke == std::vector<float>{7, 2500});
  CHECK(b.shape_gap == std::vector<float>{0.02f, 0.5f});
}

TEST_CASE("density 0, static shapes and locked bodies keep the mass") {
  ModelBuilder b;
  const int body = b.add_link({.mass = 2}), locked = b.add_link({.mass = 3, .lock_inertia = true});
  b.add_shape_box(body, 1, 1, 1, {.cfg = ShapeConfig{.density = 0}});
  b.add_shape(body, GeoType::BOX, {1, 1, 1}, {}, true);
  b.add_shape_plane({0, 0, 1, 0}, 10, 10, body);
  b.add_shape_box(locked);
  CHECK(b.body_mass == std::vector<float>{2, 3});
}

TEST_CASE("a mass written into the column is the one that shapes add to") {
  ModelBuilder b;
  const int body = b.add_link({.mass = 2});
  b.body_mass[0] = 10;
  b.add_shape_box(body, 0.1, 0.1, 0.1);
  CHECK(b.body_mass[0] == 18);
}

TEST_CASE("a plane turns local Z to its normal, at its distance") {
  ModelBuilder b;
  b.add_shape_plane({0, 0, 2, -4});
  b.add_shape_plane({0, 3, 0, 0});
  b.add_shape_plane({0, 0, -1, 0});
  b.add_ground_plane(0.25);
  const auto m = b.finalize();
  const auto pose = m->shape_transform.read<Transformf>();
  CHECK(pose[0].p.z == 2);
  CHECK(pose[0].q.w == 1);
  const auto normal = [&](std::size_t i) { return rotate(pose[i].q, Vec3f{0, 0, 1}); };
  CHECK(normal(1).y == doctest::Approx(1));
  CHECK(normal(2).z == doctest::Approx(-1));
  CHECK(pose[3].p.z == 0.25f);
  CHECK(m->shape_scale.read<Vec3f>()[3].x == 0);
  CHECK(m->shape_scale.read<Vec3f>()[0].x == 10);
  CHECK(m->shape_label[3] == "ground_plane");
  CHECK_FAILS(b.add_shape_plane({0, 0, 0, 1}), value,
              "add_shape_plane: plane is (0, 0, 0, 1): want a normal (a, b, c) whose length is not 0");
  CHECK_FAILS(b.add_ground_plane(kNan), value, "add_ground_plane: height is nan: want a finite number");
}

TEST_CASE("a site collides with nothing and weighs nothing") {
  ModelBuilder b;
  const int body = b.add_link({.mass = 1});
  b.add_site(body);
  b.add_site(body, {}, GeoType::BOX, {1, 1, 1}, "hand", true);
  b.add_shape_box(body, 1, 1, 1, {.as_site = true});
  CHECK(b.shape_flags == std::vector<std::int32_t>{ShapeFlags::SITE, ShapeFlags::SITE | ShapeFlags::VISIBLE,
                                                   ShapeFlags::SITE | ShapeFlags::VISIBLE});
  CHECK(b.body_mass[0] == 1);
  CHECK(b.shape_label[1] == "hand");
  b.add_ground_plane();
  CHECK(b.finalize()->shape_contact_pairs.rows() == 0);
}

TEST_CASE("a hollow shape is a shell as thick as its margin") {
  ModelBuilder b;
  const int body = b.add_link();
  const ShapeConfig shell{.margin = 0.1, .is_solid = false};
  b.add_shape_sphere(body, 1, {.cfg = shell});
  CHECK(b.body_mass[0] == doctest::Approx(1000 * 4.0 / 3 * 3.14159265 * (1 - 0.729)));
  CHECK_FAILS(
      b.add_shape_box(body, 0.5, 0.05, 0.5, {.cfg = shell}), value,
      "add_shape_box: margin is 0.1, the wall of a hollow shape, and hy is 0.05: want a margin below it");
  CHECK(b.shape_count() == 1);
}

TEST_CASE("a body that cannot be is refused") {
  ModelBuilder b;
  CHECK_FAILS(b.add_body({.mass = -1}), value, "add_link: mass is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_body({.xform = Transformf{{0, 0, 0}, {0, 0, 0, 0}}}), value,
              "add_link: xform is the quaternion (0, 0, 0, 0) of length 0: want x, y, z, w of length 1");
  CHECK_FAILS(b.add_link({.inertia = Mat33f{{{1, 0.5f, 0}, {0, 1, 0}, {0, 0, 1}}}}), value,
              "add_link: inertia is not symmetric: want a symmetric 3x3 matrix");
  CHECK_FAILS(b.add_link({.inertia = Mat33f{{{1, 0, 0}, {0, -2, 0}, {0, 0, 1}}}}), value,
              "add_link: inertia has the principal moment -2 kg m^2: want none below 0");
  CHECK(b.body_count() == 0);
  CHECK(b.joint_count() == 0);
}

TEST_CASE("a shape that cannot be is refused") {
  ModelBuilder b;
  CHECK_FAILS(b.add_shape_box(0), index,
              "add_shape_box: body is 0: there is no body yet, want -1 (the world)");
  b.add_body();
  CHECK_FAILS(
      b.add_shape_box(3), index,
      "add_shape_box: body is 3: the builder has 1 body, want -1 (the world) or an index from 0 to 0");
  CHECK_FAILS(b.add_shape_box(0, 1, -1, 1), value,
              "add_shape_box: hy is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_shape_sphere(0, kNan), value,
              "add_shape_sphere: radius is nan: want a finite number of at least 0");
  CHECK_FAILS(b.add_shape_capsule(0, 1, -1), value,
              "add_shape_capsule: half_height is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_shape_ellipsoid(0, 1, 1, -1), value,
              "add_shape_ellipsoid: rz is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_shape_box(0, 1, 1, 1, {.cfg = ShapeConfig{.density = -5}}), value,
              "add_shape_box: density is -5: want a finite number of at least 0");
  CHECK_FAILS(b.add_shape_box(0, 1, 1, 1, {.cfg = ShapeConfig{.mu = kNan}}), value,
              "add_shape_box: mu is nan: want a finite number");
  CHECK_FAILS(b.add_shape(0, GeoType::MESH, {1, 1, 1}), unsupported_feature,
              "add_shape: shapes of type MESH are not supported: want PLANE, SPHERE, CAPSULE, ELLIPSOID, "
              "CYLINDER, BOX or CONE");
  CHECK_FAILS(b.add_shape_collision_filter_pair(0, 0), index,
              "add_shape_collision_filter_pair: shape_a is 0: there is no shape yet");
  CHECK(b.shape_count() == 0);
  b.add_shape_box(0);
  CHECK_FAILS(b.add_shape_collision_filter_pair(0, 0), value,
              "add_shape_collision_filter_pair: shape_a and shape_b are both 0: want two shapes");
}

TEST_CASE("a quaternion of nearly length 1 is normalised, one of length 1 keeps its bits") {
  ModelBuilder b;
  b.add_shape_box(-1, 1, 1, 1, {.xform = Transformf{{0, 0, 0}, {0, 0, 0.6f, 0.8004f}}});
  const Quatf q = b.finalize()->shape_transform.read<Transformf>()[0].q;
  CHECK(q.z * q.z + q.w * q.w == doctest::Approx(1).epsilon(1e-7));
  b.add_shape_box(-1, 1, 1, 1, {.xform = Transformf{{0, 0, 0}, {0.6f, 0, 0, 0.8f}}});
  CHECK(b.shape_transform[10] == 0.6f);
  CHECK_FAILS(b.add_shape_box(-1, 1, 1, 1, {.xform = Transformf{{0, 0, 0}, {0, 0, 0.6f, 0.81f}}}), value,
              "add_shape_box: xform is the quaternion (0, 0, 0.6, 0.81) of length 1.00802: want x, y, z, w "
              "of length 1");
}

}  // namespace novaphy
