// SPDX-License-Identifier: Apache-2.0
// What nobody should do to a builder, a model and its arrays, and what they say to it.
#include <doctest/doctest.h>

#include <limits>
#include <utility>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

/// Two bodies, one hinge, a box on each.
ModelBuilder hinge() {
  ModelBuilder builder;
  const int base = builder.add_link(), arm = builder.add_link();
  builder.add_shape_box(base);
  builder.add_shape_box(arm);
  const int root = builder.add_joint_fixed(-1, base);
  builder.add_articulation({root, builder.add_joint_revolute(base, arm)});
  return builder;
}

}  // namespace

TEST_CASE("an array that was moved from is empty and can be used again") {
  DeviceArray from(DType::i32, {2, 3});
  DeviceArray to = std::move(from);
  CHECK(to.size() == 6);
  CHECK(from.empty());  // NOLINT: this is the test
  CHECK(from.dtype() == DType::f32);
  CHECK(from.read<float>().empty());
  from.zero();
  from.assign_bytes(nullptr, 0);
  CHECK_FAILS(from.copy_from(to), type, "an empty array has dtype float32: got an array of dtype int32");
  from = std::move(to);
  CHECK(from.size() == 6);
  DeviceArray& same = from;
  from = std::move(same);
  CHECK(from.size() == 6);
}

TEST_CASE("an element type is never taken for another") {
  const DeviceArray integers(DType::i32, {2, 3}), bytes(DType::u8, {12}), floats(DType::f32, {3});
  CHECK(integers.read<GeoType>().size() == 6);
  const std::string read_as = " was read as elements of another dtype or of ";
  CHECK_FAILS(integers.read<Vec3f>(), type,
              "a tensor of shape (2, 3) and dtype int32" + read_as + "12 bytes");
  CHECK_FAILS(bytes.read<Vec3f>(), type, "a tensor of shape (12) and dtype uint8" + read_as + "12 bytes");
  CHECK_FAILS(floats.read<GeoType>(), type, "a tensor of shape (3) and dtype float32" + read_as + "4 bytes");
  CHECK_FAILS(integers.read<std::uint32_t>(), type,
              "a tensor of shape (2, 3) and dtype int32" + read_as + "4 bytes");
}

TEST_CASE("a column whose length was changed is found before anything reads it") {
  const std::string hint = " (only add_* calls may change the length)";
  ModelBuilder builder = hinge();
  builder.shape_body.push_back(0);
  CHECK_FAILS(builder.finalize(), value,
              "finalize: column shape_body has 3 values: want 2, 1 for each of 2" + hint);
  builder = hinge();
  builder.body_mass.push_back(1);
  CHECK_FAILS(builder.finalize(), value,
              "finalize: column body_q has 14 values: want 21, 7 for each of 3" + hint);
  builder = hinge();
  builder.body_inertia.clear();
  CHECK_FAILS(builder.finalize(), value,
              "finalize: column body_inertia has 0 values: want 18, 9 for each of 2" + hint);
  builder = hinge();
  builder.joint_type.push_back(0);
  CHECK_FAILS(builder.finalize(), value,
              "finalize: column joint_enabled has 2 values: want 3, 1 for each of 3" + hint);
  builder = hinge();
  builder.joint_label.clear();
  CHECK_FAILS(builder.finalize(), value, "finalize: joint_label has 0 entries: want 2" + hint);
}

TEST_CASE("a column that points at nothing is refused") {
  ModelBuilder builder = hinge();
  builder.joint_articulation[1] = 4;
  CHECK_FAILS(builder.finalize(), index,
              "finalize: joint_articulation holds 4 at place 1: there are 1 articulations");
  builder = hinge();
  builder.joint_q_start[1] = 9;
  CHECK_FAILS(builder.finalize(), index, "finalize: joint_q_start holds 9 at place 1: there are 2 places");
  builder = hinge();
  builder.articulation_end[0] = 3;
  CHECK_FAILS(builder.finalize(), index, "finalize: articulation_end holds 3 at place 0: there are 3 places");
  builder = hinge();
  builder.shape_body[0] = -2;
  CHECK_FAILS(builder.finalize(), index, "finalize: shape_body holds -2 at place 0: there are 2 bodies");
  builder = hinge();
  builder.body_mass[1] = -1;
  CHECK_FAILS(builder.finalize(), value, "finalize: body_mass is -1 in row 1: want at least 0");
}

TEST_CASE("a builder that was moved from is empty; in the middle of a world it says so") {
  ModelBuilder from = hinge();
  const ModelBuilder to = std::move(from);
  CHECK(to.body_count() == 2);
  CHECK(from.body_count() == 0);  // NOLINT: this is the test
  CHECK(from.finalize()->world_count == 1);
  ModelBuilder inside;
  inside.begin_world();
  const ModelBuilder taken = std::move(inside);
  CHECK_FAILS(inside.add_builder(hinge()), generic,
              "add_builder: world 0 has begun and is gone: want a builder that was not moved from");
}

TEST_CASE("a grid of more cells than indices can count is refused at once") {
  const int huge = std::numeric_limits<int>::max();
  CHECK_FAILS(ModelBuilder().add_particle_grid({.dim_x = huge, .dim_y = huge, .dim_z = huge}), value,
              "add_particle_grid: dim_x, dim_y and dim_z make 9.90352e+27 cells: want at most 1e+08");
  CHECK_FAILS(ModelBuilder().add_soft_grid({.dim_x = 1000, .dim_y = 1000, .dim_z = 1000}), value,
              "add_soft_grid: dim_x, dim_y and dim_z make 1e+09 cells: want at most 1e+08");
  CHECK_FAILS(ModelBuilder().add_cloth_grid({.dim_x = huge, .dim_y = 1}), value,
              "add_cloth_grid: dim_x, dim_y and dim_z make 2.14748e+09 cells: want at most 1e+08");
}

TEST_CASE("elements whose size leaves float32 are refused where they are added") {
  ModelBuilder builder;
  builder.add_particles(std::vector<Vec3f>{{0, 0, 0}, {1e30f, 0, 0}, {0, 1e30f, 0}, {0, 0, 1e30f}},
                        std::vector<Vec3f>(4), std::vector<double>(4, 1.0));
  CHECK_FAILS(builder.add_triangle(0, 1, 2), degenerate_element,
              "add_triangle: triangle 0 (0, 1, 2) has a longest side of inf m: want at most 1e+18");
  CHECK_FAILS(
      builder.add_tetrahedron(0, 1, 2, 3), degenerate_element,
      "add_tetrahedron: tetrahedron 0 (0, 1, 2, 3) has a longest side of 1.41421e+30 m: want at most 1e+18");
  CHECK(builder.tri_count() + builder.tet_count() == 0);
}

TEST_CASE("a joint of a type that does not exist is refused") {
  ModelBuilder builder;
  builder.add_link();
  CHECK_FAILS(builder.add_joint(static_cast<JointType>(99), -1, 0, {}, {}), value,
              "add_joint: type is 99: want a JointType, 0 to 6");
  CHECK_FAILS(builder.add_shape(0, static_cast<GeoType>(99), {1, 1, 1}), unsupported_feature,
              "add_shape: shapes of type unknown are not supported: want PLANE, SPHERE, CAPSULE, ELLIPSOID, "
              "CYLINDER, BOX or CONE");
}

TEST_CASE("numbers at the edge of their types are refused") {
  ModelBuilder builder;
  CHECK_FAILS(builder.add_particle({0, 0, 0}, {0, 0, 0}, 1e300), value,
              "add_particle: mass is 1e+300: want a finite number of at least 0");
  CHECK_FAILS(builder.add_shape_box(std::numeric_limits<int>::min()), index,
              "add_shape_box: body is -2147483648: there is no body yet, want -1 (the world)");
  CHECK_FAILS(builder.begin_world({}, Vec3f{0, 0, std::numeric_limits<float>::infinity()}), value,
              "begin_world: gravity is (0, 0, inf): want finite numbers");
  CHECK(builder.world_count() + builder.particle_count() + builder.shape_count() == 0);
}

TEST_CASE("a model without anything works in every call") {
  const std::shared_ptr<Model> model = ModelBuilder().finalize();
  const std::shared_ptr<SimState> state = model->state();
  state->clear_forces();
  state->check_finite();
  state->assign(*state->clone());
  model->control()->clear();
  const std::shared_ptr<Contacts> contacts = model->contacts(0, 0);
  contacts->clear();
  CHECK(contacts->clone()->soft_contacts_used() == 0);
  CHECK(model->clone()->world_count == 1);
  CHECK_FAILS(model->contacts(-1, 0), value, "contacts: soft_contact_max is -1: want 0 or more");
  CHECK_FAILS(model->set_gravity({0, 0, 0}, 1), index, "set_gravity: world is 1: the model has 1 (0 to 0)");
  CHECK(model->find("no_such_array") == nullptr);
  SimState never_made;  // by no model
  never_made.clear_forces();
  never_made.check_finite();
  CHECK(never_made.clone()->particle_count() == 0);
  CHECK_FAILS(
      never_made.assign(*model->state()), shape_mismatch,
      "SimState.assign: 'particle_q' has shape (0) here and (0, 3) in the other state: want two states of "
      "one model");
}

}  // namespace novaphy
