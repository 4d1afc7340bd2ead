// SPDX-License-Identifier: Apache-2.0
// The recorded solver: equality with SolverSemiImplicit, what a recording keeps, what it refuses.
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "messages.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/task_pool.hpp"
#include "recorded_ball.hpp"
#include "reference_ball.hpp"

using namespace novaphy;
using test::Ball;
using test::kBallStep;
using test::message_of;
using test::same_bits;

namespace {

/// Steps both solvers over the same scene and compares all arrays at each step.
void check_both_solvers_agree(const std::shared_ptr<Model>& model, int steps, float margin = 0.01f,
                              bool with_tids = true) {
  SolverSemiImplicit plain(model);
  DiffSemiImplicitSolver recorded(model);
  CollisionPipeline pipeline(model, {.soft_contact_margin = margin});
  const auto contacts = pipeline.contacts();
  if (!with_tids) contacts->soft_contact_tids = DeviceArray(DType::i32, {0});
  std::shared_ptr<SimState> now[2] = {model->state(), model->state()},
                            next[2] = {model->state(), model->state()};
  for (int t = 0; t < steps; ++t) {
    pipeline.collide(*now[0], *contacts);
    for (int i = 0; i < 2; ++i) now[i]->clear_forces();
    plain.step(*now[0], *next[0], nullptr, contacts.get(), 1.0f / 480.0f);
    recorded.step(*now[1], *next[1], nullptr, contacts.get(), 1.0f / 480.0f);
    REQUIRE(same_bits(now[1]->particle_f, now[0]->particle_f));
    REQUIRE(same_bits(next[1]->particle_q, next[0]->particle_q));
    REQUIRE(same_bits(next[1]->particle_qd, next[0]->particle_qd));
    for (int i = 0; i < 2; ++i) std::swap(now[i], next[i]);
  }
}

}  // namespace

TEST_CASE("contacts may be collided anew before every step of a recording") {
  Ball once, each_step;
  nova::Tape tapes[2];
  nova::Tensor losses[2];
  {
    const nova::TapeScope recording(tapes[0]);
    losses[0] = once.roll();
  }
  {
    const nova::TapeScope recording(tapes[1]);
    losses[1] = each_step.roll(
        [&](std::size_t) { each_step.pipeline->collide(*each_step.states[0], *each_step.contacts); });
    each_step.contacts->clear();
  }
  CHECK(losses[1].item() == losses[0].item());
  tapes[0].backward(losses[0]);
  tapes[1].backward(losses[1]);
  CHECK(each_step.start_velocity_gradient() == once.start_velocity_gradient());
}

TEST_CASE(
    "steps that see the same contacts share one copy of them, and a record written by hand makes a new one") {
  Ball ball;
  nova::Tape tape;
  const nova::TapeScope recording(tape);
  ball.solver->step(*ball.states[0], *ball.states[1], nullptr, ball.contacts.get(), kBallStep);
  const auto copy = ball.contacts->recorded_copy;
  REQUIRE(copy);
  ball.solver->step(*ball.states[1], *ball.states[2], nullptr, ball.contacts.get(), kBallStep);
  CHECK(ball.contacts->recorded_copy == copy);
  ball.contacts->soft_contact_normal.write<Vec3f>()[0] = {0, 0, 1};
  ball.solver->step(*ball.states[2], *ball.states[3], nullptr, ball.contacts.get(), kBallStep);
  CHECK(ball.contacts->recorded_copy != copy);
}

TEST_CASE("contacts that somebody can write unseen are copied at every step") {
  Ball ball;
  ball.contacts->soft_contact_normal.storage()->mark_escaped();
  nova::Tape tape;
  const nova::TapeScope recording(tape);
  ball.solver->step(*ball.states[0], *ball.states[1], nullptr, ball.contacts.get(), kBallStep);
  const auto copy = ball.contacts->recorded_copy;
  ball.solver->step(*ball.states[1], *ball.states[2], nullptr, ball.contacts.get(), kBallStep);
  CHECK(ball.contacts->recorded_copy != copy);
}

TEST_CASE("records written by hand act as in the forward solver, whatever the table of pairs says") {
  const auto model = test::crowded_model(20);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 10.0f});
  SolverSemiImplicit plain(model);
  DiffSemiImplicitSolver recorded(model);
  const auto in = model->state(), forward = model->state(), out = model->state();
  const auto check_same = [&](const Contacts& contacts) {
    in->clear_forces();
    plain.step(*in, *forward, nullptr, &contacts, 0.01f);
    for (const bool with_tape : {false, true}) {
      nova::Tape tape;
      if (with_tape) tape.open();
      in->clear_forces();
      recorded.step(*in, *out, nullptr, &contacts, 0.01f);
      CHECK(same_bits(out->particle_qd, forward->particle_qd));
    }
  };
  const auto fresh = [&] {
    auto contacts = pipeline.contacts();
    pipeline.collide(*in, *contacts);
    return contacts;
  };
  const auto fewer = fresh(), twice = fresh(), turned = fresh(), more = fresh();
  REQUIRE(fewer->soft_contacts_used() > 100);
  fewer->soft_contact_count.write<std::int32_t>()[0] = 7;
  check_same(*fewer);
  twice->soft_contact_particle.write<std::int32_t>()[1] = 0;  // two records of one pair
  check_same(*twice);
  const auto particles = turned->soft_contact_particle.write<std::int32_t>();
  std::reverse(particles.begin(), particles.begin() + turned->soft_contacts_used());
  check_same(*turned);
  more->soft_contact_tids.write<std::int32_t>()[3] = -1;
  check_same(*more);
  check_same(*fresh());
}

TEST_CASE("a record of a particle that does not exist is refused") {
  Ball ball;
  ball.contacts->soft_contact_particle.write<std::int32_t>()[1] = -1;
  CHECK(message_of(
            [&] {
              ball.solver->step(*ball.states[0], *ball.states[1], nullptr, ball.contacts.get(), kBallStep);
            },
            ErrorKind::index) ==
        "soft contact 1 is between particle -1 and shape 1, the model has 1 particles and 2 shapes; collide "
        "again, or correct the record");
}

TEST_CASE("a model that is changed after construction is checked again") {
  Ball ball;
  const auto step = [&] {
    ball.solver->step(*ball.states[0], *ball.states[1], nullptr, ball.contacts.get(), kBallStep);
  };
  step();
  ball.model->particle_world.write<std::int32_t>()[0] = 4;
  for (int again = 0; again < 2; ++again)
    CHECK(
        message_of(step, ErrorKind::index) ==
        "DiffSemiImplicitSolver: particle 0 is in world 4, the model has 1; correct particle_world, in which "
        "-1 means all worlds");
  ball.model->particle_world.write<std::int32_t>()[0] = -1;
  step();
  ball.model->shape_type.write<GeoType>()[0] = GeoType::CONE;
  CHECK(message_of(step, ErrorKind::unsupported_feature) ==
        "DiffSemiImplicitSolver: the model has 1 shape that is no plane, box, sphere or capsule, which this "
        "solver does not step; DiffSolverConfig(strict=False) skips them");
}

TEST_CASE("a position overwritten before backward is an error") {
  Ball ball;
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    loss = ball.roll();
  }
  ball.states[7]->particle_q.write<Vec3f>()[0] = {0, 0, 0};
  const std::string message = message_of([&] { tape.backward(loss); }, ErrorKind::stale_record);
  CHECK(message.find("'particle_q' of state #7") != std::string::npos);
}

TEST_CASE("both solvers give the same bits: 2,000 particles among 12 turned shapes, 200 steps") {
  check_both_solvers_agree(test::crowded_model(2000), 200);
}

TEST_CASE("both solvers give the same bits with a record for every pair, and without the table of pairs") {
  check_both_solvers_agree(test::crowded_model(500), 60, 10.0f);
  check_both_solvers_agree(test::crowded_model(500), 60, 10.0f, false);
  check_both_solvers_agree(test::crowded_model(500), 60, 0.01f, false);
}

TEST_CASE("both solvers give the same bits with several worlds") {
  ModelBuilder one;
  ShapeConfig cfg;
  cfg.ke = 800, cfg.kf = 3;
  test::Random random(3);
  for (int p = 0; p < 40; ++p) one.add_particle(random.in_box(0.4f), random.in_box(1.0f), 1.0, 0.05);
  one.add_shape_sphere(-1, 0.3, {.cfg = cfg});
  ModelBuilder builder;
  builder.add_particle({0, 0, 0.3f}, {0, 0, 0}, 1.0);  // of no world
  for (int w = 0; w < 3; ++w) builder.add_world(one);
  builder.add_ground_plane(-0.2, cfg);
  const auto model = builder.finalize();
  model->set_gravity({1, 0, -2}, 1);
  model->set_gravity({0, 3, -1}, 2);
  check_both_solvers_agree(model, 50);
}

TEST_CASE("the recorded solver gives the same bits and gradients on 1, 2 and 7 threads, compiled and interpreted") {
  const auto model = test::crowded_model(10000);
  CollisionPipeline pipeline(model, {});
  const int threads_before = task_pool().thread_count();
  std::vector<std::shared_ptr<SimState>> results;
  std::vector<DeviceArray> gradients;
  for (const int threads : {0, 1, 2, 7, -7}) {  // 0: one task; -7: interpreted
    CHECK(nova::set_compiled_kernels(threads >= 0) == (threads >= 0));
    task_pool().set_thread_count(std::max(std::abs(threads), 1));
    nova::set_rows_per_task(threads == 0 ? 1 << 30 : 64);
    DiffSemiImplicitSolver solver(model);
    const auto contacts = pipeline.contacts();
    std::vector<std::shared_ptr<SimState>> states{model->state()};
    nova::Tensor start = nova::state_particle_qd_tensor(*states[0], true);
    nova::Tape tape;
    nova::Tensor loss;
    {
      const nova::TapeScope recording(tape);
      for (int t = 0; t < 4; ++t) {
        states.push_back(model->state());
        const auto& now = states[static_cast<std::size_t>(t)];
        pipeline.collide(*now, *contacts);
        solver.step(*now, *states.back(), nullptr, contacts.get(), 1.0f / 480.0f);
      }
      const nova::Tensor q = nova::view(states.back()->particle_q);
      loss = nova::sum(nova::mul(q, q));
    }
    tape.backward(loss);
    results.push_back(states.back());
    gradients.push_back(start.grad()->array().clone());
  }
  task_pool().set_thread_count(threads_before);
  nova::set_rows_per_task(0);
  nova::set_compiled_kernels(true);
  for (std::size_t i = 1; i < results.size(); ++i) {
    CHECK(same_bits(results[i]->particle_q, results[0]->particle_q));
    CHECK(same_bits(results[i]->particle_qd, results[0]->particle_qd));
    CHECK(same_bits(gradients[i], gradients[0]));
  }
}

TEST_CASE("without a tape nothing is recorded, nor with forward_only under one") {
  Ball ball;
  const auto other = ball.model->state();
  ball.solver->step(*ball.states[0], *other, nullptr, ball.contacts.get(), kBallStep);
  CHECK_FALSE(ball.contacts->recorded_copy);
  ball.solver->forward_only = true;
  nova::Tape tape;
  {
    const nova::TapeScope recording(tape);
    ball.solver->step(*ball.states[0], *ball.states[1], nullptr, ball.contacts.get(), kBallStep);
  }
  CHECK(tape.record_count() == 0);
  CHECK(same_bits(ball.states[1]->particle_q, other->particle_q));
}

TEST_CASE("a step in place works without a tape and is refused under one") {
  const auto model = test::crowded_model(200);
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state(), same = model->state();
  pipeline.collide(*in, *contacts);
  DiffSemiImplicitSolver solver(model);
  solver.step(*in, *out, nullptr, contacts.get(), 0.001f);
  solver.step(*same, *same, nullptr, contacts.get(), 0.001f);
  CHECK(same_bits(same->particle_q, out->particle_q));
  CHECK(same_bits(same->particle_qd, out->particle_qd));
  nova::Tape tape;
  const nova::TapeScope recording(tape);
  CHECK(message_of([&] { solver.step(*same, *same, nullptr, contacts.get(), 0.001f); }, ErrorKind::value) ==
        "DiffSemiImplicitSolver.step: state_in and state_out are the same state, whose old values backward "
        "needs; give one "
        "state for each step while a tape is open");
}

TEST_CASE("turning gradients on changes neither motion nor contacts of the recorded solver") {
  const auto plain = test::crowded_model(300, false), wanted = test::crowded_model(300, true);
  std::shared_ptr<SimState> last[2];
  for (int i = 0; i < 2; ++i) {
    const auto& model = i == 0 ? plain : wanted;
    DiffSemiImplicitSolver solver(model);
    CollisionPipeline pipeline(model, {});
    const auto contacts = pipeline.contacts();
    last[i] = model->state();
    for (int t = 0; t < 100; ++t) {
      const auto next = model->state();
      pipeline.collide(*last[i], *contacts);
      solver.step(*last[i], *next, nullptr, contacts.get(), 1.0f / 480.0f);
      last[i] = next;
    }
  }
  CHECK(same_bits(last[0]->particle_q, last[1]->particle_q));
  CHECK(same_bits(last[0]->particle_qd, last[1]->particle_qd));
}

TEST_CASE(
    "a step without contacts finds shapes of the world itself when it has a margin, with the same bits") {
  Ball with_records, without;
  DiffSemiImplicitSolver solver(without.model, {.soft_contact_margin = 10.0f});
  for (std::size_t t = 0; t < 288; ++t) {
    with_records.pipeline->collide(*with_records.states[t], *with_records.contacts);
    with_records.solver->step(*with_records.states[t], *with_records.states[t + 1], nullptr,
                              with_records.contacts.get(), kBallStep);
    solver.step(*without.states[t], *without.states[t + 1], nullptr, nullptr, kBallStep);
    REQUIRE(same_bits(without.states[t]->particle_f, with_records.states[t]->particle_f));
    REQUIRE(same_bits(without.states[t + 1]->particle_q, with_records.states[t + 1]->particle_q));
  }
}

TEST_CASE("a model with anything else is refused with the whole list, or stepped without it") {
  ModelBuilder builder;
  for (int p = 0; p < 4; ++p)
    builder.add_particle({p == 1 ? 1.0f : 0.0f, p == 2 ? 1.0f : 0.0f, p == 3 ? 1.0f : 0.0f}, {0, 0, 0}, 1.0);
  builder.add_spring(0, 1, 1, 1, 0);
  builder.add_tetrahedron(0, 1, 2, 3);
  const int link = builder.add_body({.mass = 1.0});
  builder.add_shape_sphere(link, 0.5);
  const auto model = builder.finalize();
  CHECK(message_of([&] { DiffSemiImplicitSolver solver(model); }, ErrorKind::unsupported_feature) ==
        "DiffSemiImplicitSolver: the model has 1 dynamic body, 1 joint and 1 shape on a dynamic body, which "
        "this solver does not step; DiffSolverConfig(strict=False) skips them");
  const test::LogLines log;
  DiffSemiImplicitSolver solver(model, {.strict = false});
  CHECK(solver.skipped() == std::vector<std::string>{"1 dynamic body", "1 joint", "1 shape on a dynamic body"});
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find(
            "DiffSemiImplicitSolver: skips 1 dynamic body, 1 joint and 1 shape on a "
            "dynamic body (strict=False)") != std::string::npos);
}

TEST_CASE("skipped shapes on dynamic bodies exert no force, those on kinematic ones do") {
  ModelBuilder builder(Axis::Z, Vec3f{0, 0, 0});
  builder.add_particle({0, 0, 0.55f}, {0, 0, 0}, 1.0, 0.1);
  builder.add_particle({5, 0, 0.55f}, {0, 0, 0}, 1.0, 0.1);
  builder.add_shape_box(builder.add_link({.mass = 1.0}), 0.5, 0.5, 0.5);
  const int kinematic = builder.add_link({.xform = Transformf{{5, 0, 0}, {0, 0, 0, 1}}, .is_kinematic = true});
  builder.add_shape_box(kinematic, 0.5, 0.5, 0.5);
  const auto model = builder.finalize();
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state();
  pipeline.collide(*in, *contacts);
  REQUIRE(contacts->soft_contacts_used() == 2);
  DiffSemiImplicitSolver solver(model, {.strict = false});
  CHECK(solver.skipped() == std::vector<std::string>{"1 dynamic body", "1 shape on a dynamic body"});
  solver.step(*in, *out, nullptr, contacts.get(), 0.001f);
  CHECK(out->particle_qd.read<Vec3f>()[0].z == 0.0f);
  CHECK(out->particle_qd.read<Vec3f>()[1].z > 0.0f);
}

TEST_CASE("parts that are switched off are no error and stay where they are") {
  const auto model = test::ball_model();
  DiffSemiImplicitSolver solver(model, {.enable_particles = false});
  const auto in = model->state(), out = model->state();
  out->particle_q.zero();
  solver.step(*in, *out, nullptr, nullptr, 0.1f);
  CHECK(same_bits(out->particle_q, in->particle_q));
  CHECK(same_bits(out->particle_qd, in->particle_qd));
}

TEST_CASE("the recorded solver cannot be captured, checks dt and its options") {
  const auto model = test::ball_model();
  DiffSemiImplicitSolver solver(model);
  CHECK_FALSE(solver.supports_graph_capture());
  const auto in = model->state(), out = model->state();
  CHECK(message_of([&] { solver.step(*in, *out, nullptr, nullptr, 0.0f); }, ErrorKind::value) ==
        "DiffSemiImplicitSolver.step: dt is 0; give a positive time in s");
  CHECK(
      message_of([&] { DiffSemiImplicitSolver(model, {.soft_contact_margin = -1.0f}); }, ErrorKind::value) ==
      "DiffSemiImplicitSolver: soft_contact_margin is -1; give a finite distance of at least 0 m");
  CHECK(message_of([&] { DiffSemiImplicitSolver(model, {.friction_law = "x"}); }, ErrorKind::value) ==
        "DiffSemiImplicitSolver: there is no friction_law 'x'; give 'newton1.7' or None");
}
