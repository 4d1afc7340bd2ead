// SPDX-License-Identifier: Apache-2.0
// Gradients through the recorded solver: the ball against Newton and a float64 twin, one contact in closed
// form.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "messages.hpp"
#include "recorded_ball.hpp"
#include "reference_ball.hpp"

using namespace novaphy;
using test::Ball;
using test::kBallStep;

namespace {

void check_near(const std::vector<float>& got, const float* wanted, double tolerance) {
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(std::abs(double{got[i]} - double{wanted[i]}) <= tolerance);
}

}  // namespace

TEST_CASE(
    "the ball recorded: all states and forces are Newton's bit for bit, so is the loss, the gradient is "
    "within 1e-5") {
  Ball ball;
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    loss = ball.roll();
  }
  const test::ReferenceBall reference;
  for (int t = 0; t <= 288; ++t) reference.check_state(t, *ball.states[static_cast<std::size_t>(t)]);
  for (int t = 0; t < 288; ++t) reference.check_force(t, *ball.states[static_cast<std::size_t>(t)]);
  CHECK(loss.item() == test::ReferenceBall::kLoss);
  tape.backward(loss);
  check_near(ball.start_velocity_gradient(), test::ReferenceBall::kGradient, 1e-5 * 4.97276);
}

TEST_CASE("adjoints of all substeps agree with the float64 twin within 1e-4 of the largest") {
  Ball ball(true);
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    loss = ball.roll();
  }
  tape.backward(loss);
  const auto twin_q = test::reference_array("ball_twin_adjoint_q", 289 * 3);
  const auto twin_qd = test::reference_array("ball_twin_adjoint_qd", 289 * 3);
  const auto largest = [](const std::vector<float>& values) {
    float most = 0.0f;
    for (const float value : values) most = std::max(most, std::abs(value));
    return double{most};
  };
  for (std::size_t t = 0; t <= 288; ++t) {
    CAPTURE(t);
    check_near(Ball::gradient_of(ball.states[t]->particle_q), &twin_q[3 * t], 1e-4 * largest(twin_q));
    if (t < 288)
      check_near(Ball::gradient_of(ball.states[t]->particle_qd), &twin_qd[3 * t], 1e-4 * largest(twin_qd));
  }
}

TEST_CASE("the gradient of the external force is that of the force at call time") {
  Ball ball(true);
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    loss = ball.roll();
  }
  tape.backward(loss);
  for (const std::size_t t :
       {std::size_t{3}, std::size_t{150}, std::size_t{287}}) {  // dL/df = dt (dL/dv' + dt dL/dx')
    const auto f = Ball::gradient_of(ball.states[t]->particle_f),
               x = Ball::gradient_of(ball.states[t + 1]->particle_q);
    for (std::size_t i = 0; i < 3; ++i) {
      const float v = t == 287 ? 0.0f : Ball::gradient_of(ball.states[t + 1]->particle_qd)[i];
      CHECK(f[i] == doctest::Approx(kBallStep * (v + kBallStep * x[i])).epsilon(1e-4));
    }
  }
}

namespace {

/// One particle pressed into the ground, sliding: dt * inv_mass * d(contact force)/d(start velocity z) is
/// -0.5 * (10 + 10) for every way to read the force.
struct Pressed {
  std::shared_ptr<Model> model = make();
  DiffSemiImplicitSolver solver{model};
  CollisionPipeline pipeline{model, {}};
  std::shared_ptr<Contacts> contacts = pipeline.contacts();
  std::shared_ptr<SimState> in = model->state(), first = model->state(), second = model->state();
  nova::Tensor v = nova::state_particle_qd_tensor(*in, true), f = nova::state_particle_f_tensor(*in, true);
  nova::Tape tape;
  static constexpr float kDt = 0.01f;

  Pressed() { pipeline.collide(*in, *contacts); }
  static std::shared_ptr<Model> make() {
    ModelBuilder builder;
    builder.add_particle({0, 0, 0.09f}, {0, 0, -1}, 1.0, 0.1);
    ShapeConfig cfg;
    cfg.kd = 10;
    builder.add_ground_plane(0.0, cfg);
    auto out = builder.finalize();
    test::set_soft_contact_material(*out, 1000.0f, 10.0f, 0.0f, 0.0f);
    return out;
  }
  void step(const std::shared_ptr<SimState>& out, bool with_contacts = true) {
    solver.step(*in, *out, nullptr, with_contacts ? contacts.get() : nullptr, kDt);
  }
  void backward(const nova::Tensor& loss) { tape.backward(loss); }
};

}  // namespace

TEST_CASE("the total force that a step leaves is recorded: a loss may read it") {
  Pressed scene;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(scene.tape);
    scene.step(scene.first);
    loss = nova::sum(scene.f);
  }
  scene.backward(loss);
  CHECK(Ball::gradient_of(scene.in->particle_qd)[2] == doctest::Approx(-10.0f));
  CHECK(Ball::gradient_of(scene.in->particle_f) == std::vector<float>{1, 1, 1});
}

TEST_CASE("a loss that has read the external force before the step overwrote it is refused") {
  Pressed scene;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(scene.tape);
    loss = nova::sum(nova::mul(scene.f, scene.f));
    scene.step(scene.first);
  }
  CHECK(test::message_of([&] { scene.backward(loss); }, ErrorKind::stale_record) ==
        "Tape: 'particle_f' of state #0 was written at launch 2 (particle_shape_contact) after launch 0 "
        "(mul) had read it; its "
        "old values are gone. A step leaves the total force there; read a clone() made before the step, and "
        "keep "
        "one state per substep.");

  Pressed cloned;
  {
    const nova::TapeScope recording(cloned.tape);
    const nova::Tensor external = cloned.f.clone();
    loss = nova::sum(nova::add(nova::mul(external, external), external));
    cloned.step(cloned.first);
  }
  cloned.backward(loss);
  CHECK(Ball::gradient_of(cloned.in->particle_f) == std::vector<float>{1, 1, 1});
}

TEST_CASE("a second step from one state feels the first one's force again, unless it is cleared") {
  const float dt = Pressed::kDt;
  Pressed again;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(again.tape);
    again.step(again.first);
    again.step(again.second);
    loss = nova::sum(nova::view(again.second->particle_qd));
  }
  again.backward(loss);
  CHECK(Ball::gradient_of(again.in->particle_qd)[2] == doctest::Approx(1 - 2 * dt * 10));
  CHECK(Ball::gradient_of(again.in->particle_f)[2] == doctest::Approx(dt));

  Pressed cleared;
  {
    const nova::TapeScope recording(cleared.tape);
    cleared.step(cleared.first);
    cleared.in->clear_forces();
    cleared.step(cleared.second);
    loss =
        nova::sum(nova::add(nova::view(cleared.first->particle_qd), nova::view(cleared.second->particle_qd)));
  }
  cleared.backward(loss);
  CHECK(Ball::gradient_of(cleared.in->particle_qd)[2] == doctest::Approx(2 * (1 - dt * 10)));
  CHECK(Ball::gradient_of(cleared.in->particle_f)[2] ==
        doctest::Approx(dt));  // of the force before the first
}

TEST_CASE("one solver used again gives the same loss and gradient each time") {
  Ball ball;
  std::vector<float> first;
  for (int round = 0; round < 3; ++round) {
    nova::Tape tape;
    nova::Tensor loss;
    {
      const nova::TapeScope recording(tape);
      loss = ball.roll();
    }
    nova::view(ball.states[0]->particle_qd).zero_grad();
    tape.backward(loss);
    if (round == 0) first = ball.start_velocity_gradient();
    CHECK(loss.item() == test::ReferenceBall::kLoss);
    CHECK(ball.start_velocity_gradient() == first);
  }
}

TEST_CASE("without the table of pairs gradients are the same") {
  const auto gradient_with = [](bool with_tids) {
    const auto model = test::crowded_model(300);
    CollisionPipeline pipeline(model, {.soft_contact_margin = 10.0f});  // a record for every pair
    DiffSemiImplicitSolver solver(model);
    const auto contacts = pipeline.contacts();
    if (!with_tids) contacts->soft_contact_tids = DeviceArray(DType::i32, {0});
    std::vector<std::shared_ptr<SimState>> states{model->state()};
    nova::Tensor start = nova::state_particle_qd_tensor(*states[0], true);
    nova::Tape tape;
    nova::Tensor loss;
    {
      const nova::TapeScope recording(tape);
      for (std::size_t t = 0; t < 10; ++t) {
        states.push_back(model->state());
        pipeline.collide(*states[t], *contacts);
        solver.step(*states[t], *states[t + 1], nullptr, contacts.get(), 1.0f / 480.0f);
      }
      const nova::Tensor q = nova::view(states.back()->particle_q);
      loss = nova::sum(nova::mul(q, q));
    }
    tape.backward(loss);
    const auto values = start.grad()->array().read<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const auto with = gradient_with(true), without = gradient_with(false);
  float largest = 0.0f;
  for (const float value : with) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < with.size(); ++i) REQUIRE(std::abs(with[i] - without[i]) <= 1e-6f * largest);
}

TEST_CASE("a contact of one step gives each parameter its closed-form gradient") {
  // one particle pressed 0.01 m into the ground, falling at 2 m/s and sliding at 0.5 m/s; loss = x_z' + x_x'
  const double radius = 0.1, gap = -0.01, ke = 900, kd = 8, kf = 3, mu = 0.9, inv_mass = 0.5, dt = 0.01,
               fall = -2, slide = 0.5;
  ModelBuilder builder(Axis::Z, Vec3f{0, 0, -10});
  builder.add_particle({0, 0, static_cast<float>(radius + gap)},
                       {static_cast<float>(slide), 0, static_cast<float>(fall)}, 1 / inv_mass, radius);
  ShapeConfig cfg;
  cfg.ke = 800, cfg.kd = 6, cfg.kf = 2, cfg.mu = 1.0;
  builder.add_ground_plane(0.0, cfg);
  const auto model = builder.finalize({}, true);
  test::set_soft_contact_material(*model, 1000.0f, 10.0f, 4.0f, 0.8f);
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state();
  pipeline.collide(*in, *contacts);
  DiffSemiImplicitSolver solver(model);
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    solver.step(*in, *out, nullptr, contacts.get(), static_cast<float>(dt));
    loss = nova::sum(nova::view(out->particle_q));
  }
  tape.backward(loss);

  const double s = inv_mass * dt * dt;  // dx'/df
  REQUIRE(kf * slide < mu * std::abs(gap * ke));
  const auto gradient = [](const DeviceArray& array, std::size_t i) {
    return double{Ball::gradient_of(array)[i]};
  };
  CHECK(gradient(in->particle_q, 2) == doctest::Approx(1 - s * ke));
  CHECK(gradient(in->particle_qd, 2) == doctest::Approx(dt - s * kd));
  CHECK(gradient(in->particle_qd, 0) == doctest::Approx(dt - s * kf));
  CHECK(gradient(model->particle_radius, 0) == doctest::Approx(s * ke));
  CHECK(gradient(model->particle_inv_mass, 0) ==
        doctest::Approx((-gap * ke - fall * kd - slide * kf) * dt * dt));
  CHECK(gradient(model->gravity, 2) == doctest::Approx(dt * dt));
  CHECK(gradient(model->shape_material_ke, 0) == doctest::Approx(0.5 * s * -gap));
  CHECK(gradient(model->shape_material_kd, 0) == doctest::Approx(0.5 * s * -fall));
  CHECK(gradient(model->shape_material_kf, 0) == doctest::Approx(0.5 * s * -slide));
  CHECK(gradient(model->soft_contact_material, 0) == doctest::Approx(0.5 * s * -gap));
  CHECK(gradient(model->soft_contact_material, 1) == doctest::Approx(0.5 * s * -fall));
  CHECK(gradient(model->soft_contact_material, 2) == doctest::Approx(0.5 * s * -slide));
  CHECK(gradient(model->soft_contact_material, 3) == 0.0);  // friction is below its cap
}

TEST_CASE("friction at rest has a finite gradient") {
  ModelBuilder builder;
  builder.add_particle({0, 0, 0.09f}, {0, 0, -1}, 1.0, 0.1);
  ShapeConfig cfg;
  cfg.kf = 100, cfg.mu = 0.5;
  builder.add_ground_plane(0.0, cfg);
  const auto model = builder.finalize();
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state();
  pipeline.collide(*in, *contacts);
  nova::state_particle_qd_tensor(*in, true);
  DiffSemiImplicitSolver solver(model);
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    solver.step(*in, *out, nullptr, contacts.get(), 0.001f);
    loss = nova::sum(nova::view(out->particle_qd));
  }
  tape.backward(loss);
  for (const float value : Ball::gradient_of(in->particle_qd)) CHECK(std::isfinite(value));
}
