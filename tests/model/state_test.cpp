// SPDX-License-Identifier: Apache-2.0
// SimState, Control, Contacts: start values, copies, checks.
#include <doctest/doctest.h>

#include <cmath>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

std::shared_ptr<Model> two_particles() {
  ModelBuilder b;
  b.add_particle({1, 2, 3}, {4, 5, 6}, 1);
  b.add_particle({7, 8, 9}, {0, 0, 0}, 1);
  b.add_ground_plane();
  b.add_body({.xform = Transformf{{0, 0, 5}, {0, 0, 0, 1}}});
  return b.finalize();
}

}  // namespace

TEST_CASE("a state begins with the model's start values and without forces") {
  const auto m = two_particles();
  const auto s = m->state();
  CHECK(s->particle_count() == 2);
  CHECK(s->body_count() == 1);
  CHECK(s->particle_q.read<Vec3f>()[1].y == 8);
  CHECK(s->particle_qd.read<Vec3f>()[0].z == 6);
  CHECK(s->particle_f.read<Vec3f>()[0].x == 0);
  CHECK(s->body_q.read<Transformf>()[0].p.z == 5);
  CHECK(s->body_qd.shape() == Shape{1, 6});
  CHECK(s->body_f.shape() == Shape{1, 6});
  CHECK(s->joint_q.read<float>()[2] == 5);
  CHECK(s->joint_qd.shape() == Shape{6});
  CHECK(s->particle_q.version() == 0);
  CHECK(s->particle_q.storage() != m->particle_q.storage());
}

TEST_CASE("states are numbered in order of creation, clones too") {
  const auto m = two_particles();
  const auto first = m->state(), second = m->state(), copy = first->clone();
  CHECK(to_string(first->particle_q.storage()->label()) == "'particle_q' of state #0");
  CHECK(to_string(second->joint_qd.storage()->label()) == "'joint_qd' of state #1");
  CHECK(to_string(copy->particle_f.storage()->label()) == "'particle_f' of state #2");
  CHECK(copy->index == 2);
  CHECK(m->state()->index == 3);
}

TEST_CASE("a cloned state is equal and shares no memory") {
  const auto s = two_particles()->state(true);
  s->particle_q.write<Vec3f>()[0].x = 42;
  const auto copy = s->clone();
  CHECK(copy->particle_q.read<Vec3f>()[0].x == 42);
  CHECK(copy->requires_grad);
  CHECK(copy->particle_q.storage()->requires_grad());
  copy->particle_q.write<Vec3f>()[0].x = 1;
  CHECK(s->particle_q.read<Vec3f>()[0].x == 42);
}

TEST_CASE("clear_forces zeroes forces alone and raises their versions") {
  const auto s = two_particles()->state();
  s->particle_f.write<float>()[3] = 1;
  s->body_f.write<float>()[3] = 1;
  s->clear_forces();
  CHECK(s->particle_f.read<float>()[3] == 0);
  CHECK(s->body_f.read<float>()[3] == 0);
  CHECK(s->particle_f.version() == 2);
  CHECK(s->particle_q.version() == 0);
  CHECK(s->particle_q.read<float>()[0] == 1);
}

TEST_CASE("assign copies everything into the memory that is there") {
  const auto m = two_particles();
  const auto a = m->state(), b = m->state();
  b->particle_q.write<float>()[0] = 11;
  b->body_q.write<float>()[0] = 12;
  const void* memory = a->particle_q.storage()->data();
  a->assign(*b);
  CHECK(a->particle_q.read<float>()[0] == 11);
  CHECK(a->body_q.read<float>()[0] == 12);
  CHECK(a->particle_q.storage()->data() == memory);
  CHECK(a->particle_q.version() == 1);
  a->assign(*a);
  CHECK(a->particle_q.version() == 1);
}

TEST_CASE("assign from a state of another model is refused and changes nothing") {
  ModelBuilder other;
  other.add_particle({0, 0, 0}, {0, 0, 0}, 1);
  const auto a = two_particles()->state(), b = other.finalize()->state();
  CHECK_FAILS(a->assign(*b), shape_mismatch,
              "SimState.assign: 'particle_q' has shape (2, 3) here and (1, 3) in the other state: want two "
              "states of one model");
  CHECK(a->particle_q.version() == 0);
}

TEST_CASE("check_finite names the first number that is not finite") {
  const auto s = two_particles()->state();
  s->check_finite();
  s->particle_qd.write<Vec3f>()[1].y = std::nanf("");
  CHECK_FAILS(s->check_finite(), generic,
              "'particle_qd' of state #0 is nan in row 1, component 1: want finite numbers");
  s->particle_qd.zero();
  s->joint_q.write<float>()[4] = -std::numeric_limits<float>::infinity();
  CHECK_FAILS(s->check_finite(), generic,
              "'joint_q' of state #0 is -inf in row 4, component 0: want finite numbers");
}

TEST_CASE("a control begins with the model's targets, clear zeroes it") {
  ModelBuilder b;
  const int link = b.add_link({.mass = 1});
  b.add_articulation({b.add_joint_revolute(-1, link, JointDofConfig{.target_q = 0.5, .target_qd = 0.25})});
  const auto control = b.finalize()->control();
  CHECK(control->joint_target_q.read<float>()[0] == 0.5f);
  CHECK(control->joint_target_qd.read<float>()[0] == 0.25f);
  CHECK(control->joint_f.shape() == Shape{1});
  CHECK(control->joint_act.shape() == Shape{1});
  const auto copy = control->clone();
  control->clear();
  CHECK(control->joint_target_q.read<float>()[0] == 0);
  CHECK(copy->joint_target_q.read<float>()[0] == 0.5f);
}

TEST_CASE("contacts hold as many records as asked for, and none at first") {
  const auto m = two_particles();
  const auto c = m->contacts(5, 3);
  CHECK(c->soft_contact_count.shape() == Shape{1});
  CHECK(c->soft_contact_normal.shape() == Shape{5, 3});
  CHECK(c->soft_contact_tids.shape() == Shape{2});
  CHECK(c->rigid_contact_point0.shape() == Shape{3, 3});
  CHECK(c->soft_contact_tids.read<std::int32_t>()[1] == -1);
  CHECK(c->soft_contacts_used() == 0);
  CHECK(c->rigid_contacts_used() == 0);
  CHECK_FAILS(m->contacts(-1, 0), value, "contacts: soft_contact_max is -1: want 0 or more");
  CHECK_FAILS(m->contacts(0, -2), value, "contacts: rigid_contact_max is -2: want 0 or more");
}

TEST_CASE("records in use never exceed the capacity; clear begins a new generation") {
  const auto c = two_particles()->contacts(5, 3);
  c->soft_contact_count.write<std::int32_t>()[0] = 9;
  c->soft_contact_overflow = true;
  c->soft_contact_tids.write<std::int32_t>()[0] = 4;
  CHECK(c->soft_contacts_used() == 5);
  const auto copy = c->clone();
  const auto generation = c->generation;
  c->clear();
  CHECK(c->soft_contacts_used() == 0);
  CHECK(c->soft_contact_tids.read<std::int32_t>()[0] == -1);
  CHECK_FALSE(c->soft_contact_overflow);
  CHECK(c->generation == generation + 1);
  CHECK(copy->soft_contacts_used() == 5);
  CHECK(copy->soft_contact_overflow);
  CHECK(copy->soft_contact_tids.read<std::int32_t>()[0] == 4);
}

}  // namespace novaphy
