// SPDX-License-Identifier: Apache-2.0
// The forward solver: Newton's ball, threads, special particles, contact laws by hand, errors.
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "messages.hpp"
#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/task_pool.hpp"
#include "reference_ball.hpp"
#include "scenes.hpp"

using namespace novaphy;
using test::message_of;
using test::same_bits;

namespace {

/// One particle of radius 0.1 and mass 1 over the ground, without gravity; kf and mu as given, ke = 1000, kd
/// = 10.
struct OnGround {
  std::shared_ptr<Model> model;
  std::shared_ptr<SimState> in, out;
  std::shared_ptr<Contacts> contacts;

  OnGround(const Vec3f& pos, const Vec3f& vel, double kf, double mu) {
    ModelBuilder builder(Axis::Z, Vec3f{0, 0, 0});
    builder.add_particle(pos, vel, 1.0, 0.1);
    ShapeConfig cfg;
    cfg.ke = 1000, cfg.kd = 10, cfg.kf = kf, cfg.mu = mu;
    builder.add_ground_plane(0.0, cfg);
    model = builder.finalize();
    test::set_soft_contact_material(*model, 1000.0f, 10.0f, static_cast<float>(kf), static_cast<float>(mu));
    in = model->state(), out = model->state();
    CollisionPipeline pipeline(model, {});
    contacts = pipeline.contacts();
    pipeline.collide(*in, *contacts);
  }
  Vec3f force() {
    SolverSemiImplicit(model).step(*in, *out, nullptr, contacts.get(), 0.001f);
    return in->particle_f.read<Vec3f>()[0];
  }
};

}  // namespace

TEST_CASE("all 289 states and forces of the ball are Newton's, bit for bit") {
  const auto model = test::ball_model();
  SolverSemiImplicit solver(model);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 10.0f});
  const auto contacts = pipeline.contacts();
  auto now = model->state(), next = model->state();
  pipeline.collide(*now, *contacts);
  const test::ReferenceBall reference;
  reference.check_state(0, *now);
  for (int t = 0; t < 288; ++t) {
    now->clear_forces();
    solver.step(*now, *next, nullptr, contacts.get(), static_cast<float>(1.0 / 480.0));
    reference.check_force(t, *now);
    reference.check_state(t + 1, *next);
    std::swap(now, next);
  }
}

TEST_CASE("states are the same bits on 1, 2 and 7 threads with small tasks") {
  const auto model = test::crowded_model(10000);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 0.05f});
  const int threads_before = task_pool().thread_count();
  std::vector<std::shared_ptr<SimState>> results;
  for (const int threads : {0, 1, 2, 7}) {  // 0: one task
    task_pool().set_thread_count(std::max(threads, 1));
    SolverSemiImplicit solver(model);
    solver.set_grain(threads == 0 ? 1 << 30 : 16);
    const auto contacts = pipeline.contacts();
    auto state = model->state();
    for (int t = 0; t < 20; ++t) {
      pipeline.collide(*state, *contacts);
      state->clear_forces();
      solver.step(*state, *state, nullptr, contacts.get(), 1.0f / 960.0f);
    }
    results.push_back(state);
  }
  task_pool().set_thread_count(threads_before);
  for (std::size_t i = 1; i < results.size(); ++i) {
    CHECK(same_bits(results[i]->particle_q, results[0]->particle_q));
    CHECK(same_bits(results[i]->particle_qd, results[0]->particle_qd));
    CHECK(same_bits(results[i]->particle_f, results[0]->particle_f));
  }
}

TEST_CASE("a step in place gives the same bits as a step between two states") {
  const auto model = test::crowded_model(500);
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state(), in_place = model->state();
  pipeline.collide(*in, *contacts);
  SolverSemiImplicit solver(model);
  solver.step(*in, *out, nullptr, contacts.get(), 0.001f);
  solver.step(*in_place, *in_place, nullptr, contacts.get(), 0.001f);
  CHECK(same_bits(in_place->particle_q, out->particle_q));
  CHECK(same_bits(in_place->particle_qd, out->particle_qd));
  CHECK(same_bits(in_place->particle_f, in->particle_f));
}

TEST_CASE("turning gradients on changes neither motion nor contacts") {
  const auto plain = test::crowded_model(300, false), wanted = test::crowded_model(300, true);
  std::shared_ptr<SimState> states[2];
  std::vector<int> counts[2];
  for (int i = 0; i < 2; ++i) {
    const auto& model = i == 0 ? plain : wanted;
    SolverSemiImplicit solver(model);
    CollisionPipeline pipeline(model, {});
    const auto contacts = pipeline.contacts();
    states[i] = model->state();
    for (int t = 0; t < 100; ++t) {
      pipeline.collide(*states[i], *contacts);
      counts[i].push_back(contacts->soft_contacts_used());
      states[i]->clear_forces();
      solver.step(*states[i], *states[i], nullptr, contacts.get(), 1.0f / 480.0f);
    }
  }
  CHECK(counts[0] == counts[1]);
  CHECK(same_bits(states[0]->particle_q, states[1]->particle_q));
  CHECK(same_bits(states[0]->particle_qd, states[1]->particle_qd));
}

TEST_CASE("an external force adds to the contact force, and the state holds the sum") {
  OnGround scene({0, 0, 0.09f}, {0, 0, 0}, 0, 0);
  scene.in->particle_f.write<Vec3f>()[0] = {1, 2, 3};
  const Vec3f force = scene.force();
  CHECK(force.x == 1.0f);
  CHECK(force.y == 2.0f);
  CHECK(force.z == doctest::Approx(3.0 + 1000.0 * 0.01));
}

TEST_CASE("damping acts on approach only") {
  CHECK(OnGround({0, 0, 0.09f}, {0, 0, -2}, 0, 0).force().z == doctest::Approx(10.0 + 10.0 * 2));
  CHECK(OnGround({0, 0, 0.09f}, {0, 0, 2}, 0, 0).force().z == doctest::Approx(10.0));
}

TEST_CASE("friction is capped by the elastic normal force, and is zero without sliding") {
  CHECK(OnGround({0, 0, 0.09f}, {0.1f, 0, 0}, 20, 0.5).force().x ==
        doctest::Approx(-2.0));  // kf |v| = 2 < mu N = 5
  CHECK(OnGround({0, 0, 0.09f}, {3.0f, 0, -5}, 20, 0.5).force().x == doctest::Approx(-5.0));
  CHECK(OnGround({0, 0, 0.09f}, {0, 0, 0}, 20, 0.5).force().x == 0.0f);
}

TEST_CASE("inactive particles stay, fixed particles keep their velocity, speeds are capped") {
  ModelBuilder builder;
  builder.particle_max_velocity = 10.0;
  builder.add_particle({0, 0, 1}, {1, 2, 3}, 1.0, {}, 0);
  builder.add_particle({0, 0, 2}, {1, 0, 0}, 0.0);
  builder.add_particle({0, 0, 3}, {300, 400, 0}, 1.0);
  const auto model = builder.finalize();
  const auto in = model->state(), out = model->state();
  out->particle_qd.write<Vec3f>()[0] = {9, 9, 9};
  SolverSemiImplicit(model).step(*in, *out, nullptr, nullptr, 0.5f);
  const auto q = out->particle_q.read<Vec3f>();
  const auto qd = out->particle_qd.read<Vec3f>();
  CHECK(q[0].z == 1.0f);
  CHECK(qd[0].y == 2.0f);
  CHECK(q[1].x == 0.5f);
  CHECK(qd[1].z == 0.0f);
  CHECK(std::hypot(qd[2].x, qd[2].y, qd[2].z) == doctest::Approx(10.0));
}

TEST_CASE("each world has its own gravity") {
  ModelBuilder one;
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  ModelBuilder builder;
  builder.replicate(one, 2);
  const auto model = builder.finalize();
  model->set_gravity({0, 0, -1}, 0);
  model->set_gravity({0, 0, -3}, 1);
  const auto in = model->state(), out = model->state();
  SolverSemiImplicit(model).step(*in, *out, nullptr, nullptr, 0.5f);
  CHECK(out->particle_qd.read<Vec3f>()[0].z == -0.5f);
  CHECK(out->particle_qd.read<Vec3f>()[1].z == -1.5f);
}

TEST_CASE("a kinematic body carries its shapes, and its motion drags particles") {
  ModelBuilder builder(Axis::Z, Vec3f{0, 0, 0});
  builder.add_particle({1, 0, 0.59f}, {0, 0, 0}, 1.0, 0.1);
  BodyArgs body;
  body.is_kinematic = true;
  const int link = builder.add_link(body);
  ShapeConfig cfg;
  cfg.ke = 1000, cfg.kd = 0, cfg.kf = 5, cfg.mu = 0.5, cfg.has_shape_collision = false;
  builder.add_shape_box(link, 2, 0.5, 0.5, {.cfg = cfg});
  const auto model = builder.finalize();
  test::set_soft_contact_material(*model, 1000.0f, 0.0f, 5.0f, 0.5f);
  const auto in = model->state(), out = model->state();
  in->body_qd.write<Spatialf>()[0] = {{0.1f, 0, 0}, {0, 0, 0.2f}};
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  pipeline.collide(*in, *contacts);
  SolverSemiImplicit(model).step(*in, *out, nullptr, contacts.get(), 0.001f);
  const Vec3f force = in->particle_f.read<Vec3f>()[0];
  CHECK(force.x == doctest::Approx(5.0 * 0.1));        // kf times the slip
  CHECK(force.y == doctest::Approx(5.0 * 0.2 * 1.0));  // the turning surface moves along y at x = 1
  CHECK(force.z == doctest::Approx(10.0));
  CHECK(same_bits(out->body_qd, in->body_qd));
}

TEST_CASE("a model with anything else is refused with the whole list") {
  ModelBuilder builder;
  for (int p = 0; p < 4; ++p)
    builder.add_particle({p == 1 ? 1.0f : 0.0f, p == 2 ? 1.0f : 0.0f, p == 3 ? 1.0f : 0.0f}, {0, 0, 0}, 1.0);
  builder.add_spring(0, 1, 1, 1, 0);
  builder.add_triangle(0, 1, 2);
  builder.add_tetrahedron(0, 1, 2, 3);
  builder.add_body({.mass = 1.0});
  const auto model = builder.finalize();
  CHECK(message_of([&] { SolverSemiImplicit solver(model); }, ErrorKind::unsupported_feature) ==
        "SolverSemiImplicit: the model has 1 dynamic body and 1 joint, which this solver does not step; it steps "
        "particles, springs, triangles, bending edges and tetrahedra");
}

TEST_CASE("a time step must be positive and finite") {
  const auto model = test::ball_model();
  SolverSemiImplicit solver(model);
  const auto state = model->state();
  const auto step = [&](float dt) {
    return message_of([&] { solver.step(*state, *state, nullptr, nullptr, dt); }, ErrorKind::value);
  };
  CHECK(step(0.0f) == "SolverSemiImplicit.step: dt is 0; give a positive time in s");
  CHECK(step(-1.0f) == "SolverSemiImplicit.step: dt is -1; give a positive time in s");
  CHECK(step(NAN) == "SolverSemiImplicit.step: dt is nan; give a positive time in s");
}

TEST_CASE("states and contacts of another model are refused") {
  const auto model = test::ball_model(), other = test::crowded_model(3);
  SolverSemiImplicit solver(model);
  const auto state = model->state(), theirs = other->state();
  CHECK(
      message_of([&] { solver.step(*state, *theirs, nullptr, nullptr, 0.1f); }, ErrorKind::shape_mismatch) ==
      "SolverSemiImplicit.step: state_out has 3 particles and 0 bodies, the model has 1 and 0; take it from "
      "this model's "
      "state()");
  const auto contacts = CollisionPipeline(other, {}).contacts();
  CHECK(message_of([&] { solver.step(*state, *state, nullptr, contacts.get(), 0.1f); },
                   ErrorKind::shape_mismatch) ==
        "SolverSemiImplicit.step: contacts were made for 3 particles and 12 shapes, the model has 1 and 2; "
        "take them from "
        "a pipeline of this model");
}

TEST_CASE("a record of a particle that does not exist is refused") {
  const auto model = test::ball_model();
  SolverSemiImplicit solver(model);
  const auto state = model->state();
  CollisionPipeline pipeline(model, {.soft_contact_margin = 10.0f});
  const auto contacts = pipeline.contacts();
  pipeline.collide(*state, *contacts);
  contacts->soft_contact_particle.write<std::int32_t>()[1] = 7;
  CHECK(message_of([&] { solver.step(*state, *state, nullptr, contacts.get(), 0.1f); }, ErrorKind::index) ==
        "soft contact 1 is between particle 7 and shape 1, the model has 1 particles and 2 shapes; collide "
        "again, or "
        "correct the record");
}

TEST_CASE("a world or body that does not exist is refused when the model is changed after construction") {
  const auto model = test::ball_model();
  SolverSemiImplicit solver(model);
  const auto in = model->state(), out = model->state();
  const auto step = [&] { solver.step(*in, *out, nullptr, nullptr, 0.01f); };
  step();
  model->particle_world.write<std::int32_t>()[0] = 1;
  CHECK(message_of(step, ErrorKind::index) ==
        "SolverSemiImplicit: particle 0 is in world 1, the model has 1; correct particle_world, in which -1 "
        "means all worlds");
  model->particle_world.write<std::int32_t>()[0] = 0;
  model->shape_body.write<std::int32_t>()[1] = 0;
  CHECK(
      message_of(step, ErrorKind::index) ==
      "SolverSemiImplicit: shape 1 is on body 0, the model has 0; correct shape_body, in which -1 means the "
      "world");
  model->shape_body.write<std::int32_t>()[1] = -1;
  step();
}

TEST_CASE("options out of range are refused by name") {
  const auto model = test::ball_model();
  const auto with = [&](const SemiImplicitConfig& config) {
    return message_of([&] { SolverSemiImplicit solver(model, config); }, ErrorKind::value);
  };
  CHECK(with({.angular_damping = -1.0f}) ==
        "SolverSemiImplicit: angular_damping is -1; give a number of at least 0");
  CHECK(with({.friction_smoothing = 0.0f}) ==
        "SolverSemiImplicit: friction_smoothing is 0; give a positive speed in m/s, or None");
  CHECK(with({.friction_law = "coulomb"}) ==
        "SolverSemiImplicit: there is no friction_law 'coulomb'; give 'newton1.7' or None");
  CHECK(with({.joint_attach_ke = -2.0f}) ==
        "SolverSemiImplicit: joint_attach_ke is -2 and joint_attach_kd is 100; give numbers of at least 0");
}
