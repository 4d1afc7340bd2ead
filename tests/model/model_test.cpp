// SPDX-License-Identifier: Apache-2.0
// Model: shapes of its arrays, labels, gradients, gravity, copies.
#include <doctest/doctest.h>

#include <cstring>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

/// One of everything.
ModelBuilder full_scene() {
  ModelBuilder b;
  b.add_soft_grid({.dim_x = 2, .density = 10});
  b.add_spring(0, 5, 1, 2, 0);
  const int body = b.add_body({.mass = 2});
  b.add_shape_box(body);
  b.add_ground_plane();
  return b;
}

}  // namespace

TEST_CASE("arrays have the shapes of the documentation") {
  const auto m = full_scene().finalize();
  CHECK(m->particle_q.shape() == Shape{12, 3});
  CHECK(m->particle_mass.shape() == Shape{12});
  CHECK(m->spring_indices.shape() == Shape{1, 2});
  CHECK(m->tri_poses.shape() == Shape{m->tri_count, 2, 2});
  CHECK(m->particle_tri_material.shape() == Shape{m->tri_count, 5});
  CHECK(m->edge_indices.shape() == Shape{m->edge_count, 4});
  CHECK(m->tet_poses.shape() == Shape{10, 3, 3});
  CHECK(m->particle_tet_material.shape() == Shape{10, 3});
  CHECK(m->body_q.shape() == Shape{1, 7});
  CHECK(m->body_inertia.shape() == Shape{1, 3, 3});
  CHECK(m->body_inv_inertia.shape() == Shape{1, 3, 3});
  CHECK(m->joint_q.shape() == Shape{7});
  CHECK(m->joint_q_start.shape() == Shape{2});
  CHECK(m->articulation_start.shape() == Shape{2});
  CHECK(m->gravity.shape() == Shape{1, 3});
  CHECK(m->shape_contact_pairs.shape() == Shape{1, 2});
  CHECK(m->soft_contact_material.shape() == Shape{5});
  CHECK(m->particle_contact_material.shape() == Shape{6});
}

TEST_CASE("an empty builder makes an empty model with gravity and materials") {
  const auto m = ModelBuilder().finalize();
  CHECK(m->particle_q.shape() == Shape{0, 3});
  CHECK(m->tet_poses.shape() == Shape{0, 3, 3});
  CHECK(m->joint_q_start.read<std::int32_t>()[0] == 0);
  CHECK(m->gravity.read<Vec3f>()[0].z == -9.81f);
  CHECK(m->world_count == 1);
  const auto soft = m->soft_contact_material.read<float>();
  CHECK(std::vector<float>(soft.begin(), soft.end()) == std::vector<float>{1000, 10, 1000, 0.5f, 0});
  const auto particle = m->particle_contact_material.read<float>();
  CHECK(std::vector<float>(particle.begin(), particle.end()) ==
        std::vector<float>{1000, 100, 100, 0.5f, 0, 0});
  CHECK(m->version() == 0);
  CHECK(m->state()->particle_q.shape() == Shape{0, 3});
}

TEST_CASE("every array is named in messages") {
  const auto m = full_scene().finalize();
  CHECK(to_string(m->gravity.storage()->label()) == "'gravity' of model");
  CHECK(to_string(m->control()->joint_f.storage()->label()) == "'joint_f' of control");
  CHECK(to_string(m->contacts(1, 1)->soft_contact_normal.storage()->label()) ==
        "'soft_contact_normal' of contacts");
  m->visit([&](const ArrayInfo& info, const DeviceArray& array) {
    CHECK(array.storage()->label().name == info.name);
  });
}

TEST_CASE("the model's version changes with any of its arrays") {
  const auto m = full_scene().finalize();
  CHECK(m->version() == 0);
  m->particle_mass.write<float>()[0] = 2;
  m->soft_contact_material.write<float>()[0] = 5;
  CHECK(m->version() == 2);
}

TEST_CASE("requires_grad marks float arrays of the model and of what it makes") {
  const auto with = full_scene().finalize({}, true), without = full_scene().finalize();
  CHECK(with->requires_grad);
  CHECK(with->particle_tet_material.storage()->requires_grad());
  CHECK(with->soft_contact_material.storage()->requires_grad());
  CHECK_FALSE(with->tet_indices.storage()->requires_grad());
  CHECK_FALSE(without->particle_tet_material.storage()->requires_grad());
  CHECK(with->state()->particle_qd.storage()->requires_grad());
  CHECK_FALSE(with->state(false)->particle_qd.storage()->requires_grad());
  CHECK_FALSE(without->state()->particle_qd.storage()->requires_grad());
  CHECK(without->state(true)->particle_qd.storage()->requires_grad());
  CHECK(without->state(true)->requires_grad);
  CHECK(with->control()->joint_f.storage()->requires_grad());
  CHECK_FALSE(with->control(false)->joint_f.storage()->requires_grad());
}

TEST_CASE("gravity is set for one world or for all") {
  ModelBuilder b;
  b.begin_world();
  b.end_world();
  b.begin_world("moon", Vec3f{0, 0, -1.62f});
  b.end_world();
  const auto m = b.finalize();
  CHECK(m->gravity.read<Vec3f>()[0].z == -9.81f);
  CHECK(m->gravity.read<Vec3f>()[1].z == -1.62f);
  CHECK(m->world_label == std::vector<std::string>{"world_0", "moon"});
  m->set_gravity({0, 0, -3}, 1);
  CHECK(m->gravity.read<Vec3f>()[0].z == -9.81f);
  CHECK(m->gravity.read<Vec3f>()[1].z == -3);
  m->set_gravity({1, 0, 0});
  CHECK(m->gravity.read<Vec3f>()[0].x == 1);
  CHECK(m->gravity.read<Vec3f>()[1].x == 1);
  CHECK(m->gravity.version() == 2);
  CHECK_FAILS(m->set_gravity({0, 0, 0}, 2), index, "set_gravity: world is 2: the model has 2 (0 to 1)");
  CHECK_FAILS(m->set_gravity({0, std::numeric_limits<float>::infinity(), 0}), value,
              "set_gravity: gravity is (0, inf, 0): want finite numbers");
}

TEST_CASE("a cloned model is equal and shares no memory") {
  ModelBuilder b = full_scene();
  // assigned field by field: g++ 12 takes the unnamed strings of a braced temporary for uninitialised
  CustomArray colour;
  colour.info.name = "colour";
  colour.info.dtype = DType::f32;
  colour.info.frequency = Frequency::particle;
  colour.info.width = 3;
  colour.default_row = {1, 0, 0};
  b.add_custom_array(colour);
  const auto m = b.finalize({}, true);
  const auto copy = m->clone();
  m->visit([&](const ArrayInfo& info, const DeviceArray& array) {
    const DeviceArray* other = copy->find(info.name);
    REQUIRE(other);
    CHECK(other->shape() == array.shape());
    CHECK(other->storage() != array.storage());
    CHECK(std::memcmp(other->storage()->data(), array.storage()->data(), array.bytes()) == 0);
    CHECK(other->storage()->requires_grad() == array.storage()->requires_grad());
    CHECK(to_string(other->storage()->label()) == to_string(array.storage()->label()));
  });
  CHECK(copy->particle_count == m->particle_count);
  CHECK(copy->tet_count == m->tet_count);
  CHECK(copy->joint_coord_count == m->joint_coord_count);
  CHECK(copy->joint_dof_count == m->joint_dof_count);
  CHECK(copy->articulation_count == m->articulation_count);
  CHECK(copy->world_count == m->world_count);
  CHECK(copy->requires_grad);
  CHECK(copy->particle_max_radius == m->particle_max_radius);
  CHECK(copy->body_label == m->body_label);
  CHECK(copy->shape_label == m->shape_label);
  CHECK(copy->custom_array_specs.size() == 1);
  copy->particle_mass.write<float>()[0] = 77;
  CHECK(m->particle_mass.read<float>()[0] != 77);
}

TEST_CASE("arrays are found by name") {
  const auto m = full_scene().finalize();
  CHECK(m->find("tet_poses") == &m->tet_poses);
  CHECK(m->find("tet_pose") == nullptr);
  CHECK(built_in_arrays(ArrayOwner::state).size() == 8);
  CHECK(built_in_arrays(ArrayOwner::state)[0].name == "particle_q");
  CHECK(built_in_arrays(ArrayOwner::model).back().name == "particle_contact_material");
}

TEST_CASE("a builder goes on after finalize and does not touch the model") {
  ModelBuilder b;
  b.add_particle({0, 0, 0}, {0, 0, 0}, 1);
  const auto first = b.finalize();
  b.add_particle({1, 0, 0}, {0, 0, 0}, 1);
  b.particle_q[0] = 5;
  const auto second = b.finalize();
  CHECK(first->particle_count == 1);
  CHECK(first->particle_q.read<float>()[0] == 0);
  CHECK(second->particle_count == 2);
  CHECK(second->particle_q.read<float>()[0] == 5);
}

}  // namespace novaphy
