// SPDX-License-Identifier: Apache-2.0
// The particle operators of novaphy.diff: equal to the solver on the ball, gradients, errors.
#include "diff/particles.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "messages.hpp"
#include "novaphy/collision/static_contact_kernel.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor_views.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "reference_ball.hpp"
#include "scenes.hpp"

using namespace novaphy;
using semi_implicit::integrate_particles_generated;
using semi_implicit::integrate_particles_with_static_contacts_generated;
using semi_implicit::ParticleTensors;
using test::message_of;
using test::same_bits;

namespace {

constexpr float kBallStep = static_cast<float>(1.0 / 480.0);

nova::Tensor vec3_rows(std::initializer_list<float> values) {
  const std::vector<float> data(values);
  return nova::Tensor::from(std::span<const float>(data),
                            Shape{static_cast<std::int64_t>(data.size() / 3), 3});
}

}  // namespace

TEST_CASE("the fused operator reproduces the ball's 289 states and its gradient without any Contacts") {
  const auto model = test::ball_model();
  const auto start = model->state();
  nova::Tensor v0 = nova::state_particle_qd_tensor(*start, true);
  const nova::Tensor no_force(Shape{1, 3});
  const test::ReferenceBall reference;
  nova::Tape tape;
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape);
    ParticleTensors now{nova::view(start->particle_q), v0};
    for (int t = 0; t < 288; ++t) {
      now = integrate_particles_with_static_contacts_generated(*model, now.q, now.qd, no_force, 10.0f,
                                                               kBallStep);
      const auto x = now.q.array().read<float>();
      for (std::size_t i = 0; i < 3; ++i)
        REQUIRE(x[i] == doctest::Approx(reference.q[static_cast<std::size_t>(t + 1) * 3 + i]));
    }
    loss = nova::particle_point_loss_generated(now.q, 0, 0.0f, -2.0f, 1.5f);
  }
  tape.backward(loss);
  const auto gradient = v0.grad()->array().read<float>();
  CHECK(loss.item() == doctest::Approx(test::ReferenceBall::kLoss).epsilon(1e-5));
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::abs(gradient[i] - test::ReferenceBall::kGradient[i]) <= 1e-3f * 4.97276f);
}

TEST_CASE("contact force and integration apart give the bits of the fused operator") {
  ModelBuilder builder;
  test::Random random(11);
  for (int p = 0; p < 200; ++p) builder.add_particle(random.in_box(1.0f), random.in_box(2.0f), 1.0, 0.1);
  for (int s = 0; s < 6; ++s) {
    ShapeConfig cfg;
    cfg.ke = random.between(100, 900), cfg.mu = random.between(0, 1);
    const ShapeArgs args{.xform = Transformf{random.in_box(1.0f), random.rotation()}, .cfg = cfg};
    if (s % 2 == 0) builder.add_shape_box(-1, 0.3, 0.2, 0.4, args);
    if (s % 2 == 1) builder.add_shape_plane({0, 0, 1, 0}, 1, 1, -1, args);
  }
  const auto scene = builder.finalize();
  const auto state = scene->state();
  const nova::Tensor q = nova::view(state->particle_q), qd = nova::view(state->particle_qd),
                     f = nova::view(state->particle_f);
  const auto fused = integrate_particles_with_static_contacts_generated(*scene, q, qd, f, 0.0f, 0.01f);
  nova::Tensor total(Shape{200, 3});
  collision::subtract_static_contacts(*scene, q.array(), qd.array(), f.array(), total.array(), 0.0f);
  const auto apart = integrate_particles_generated(*scene, q, qd, total, 0.01f);
  CHECK(same_bits(apart.q.array(), fused.q.array()));
  CHECK(same_bits(apart.qd.array(), fused.qd.array()));
  CHECK_FALSE(same_bits(total.array(), f.array()));
}

TEST_CASE("integration alone equals a step without contacts") {
  const auto model = test::crowded_model(300);
  const auto in = model->state(), out = model->state();
  const auto next = integrate_particles_generated(
      *model, nova::view(in->particle_q), nova::view(in->particle_qd), nova::view(in->particle_f), 0.02f);
  SolverSemiImplicit(model).step(*in, *out, nullptr, nullptr, 0.02f);
  CHECK(same_bits(next.q.array(), out->particle_q));
  CHECK(same_bits(next.qd.array(), out->particle_qd));
}

TEST_CASE("operators refuse a time step that is not positive and tensors of another shape") {
  const auto model = test::ball_model();
  const nova::Tensor one = vec3_rows({0, 0, 1}), two = vec3_rows({0, 0, 1, 0, 0, 2});
  CHECK(message_of([&] { integrate_particles_generated(*model, one, one, one, -0.5f); }, ErrorKind::value) ==
        "integrate_particles_generated: dt is -0.5; give a positive time in s");
  CHECK(message_of(
            [&] { integrate_particles_with_static_contacts_generated(*model, one, one, one, 0.0f, 0.0f); },
            ErrorKind::value) ==
        "integrate_particles_with_static_contacts_generated: dt is 0; give a positive time in s");
  const std::string message = message_of([&] { integrate_particles_generated(*model, one, two, one, 0.1f); },
                                         ErrorKind::shape_mismatch);
  CHECK(message.find("(2, 3)") != std::string::npos);
}

TEST_CASE("operators refuse a margin that is not finite") {
  const auto model = test::ball_model();
  const nova::Tensor one = vec3_rows({0, 0, 1});
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(
      message_of(
          [&] { integrate_particles_with_static_contacts_generated(*model, one, one, one, infinite, 0.1f); },
          ErrorKind::value) ==
      "integrate_particles_with_static_contacts_generated: soft_contact_margin is inf; give a finite "
      "distance "
      "in m");
  CHECK(message_of([&] { DiffSemiImplicitSolver(model, {.soft_contact_margin = infinite}); },
                   ErrorKind::value) ==
        "DiffSemiImplicitSolver: soft_contact_margin is inf; give a finite distance of at least 0 m");
}

TEST_CASE("operators name a shape that they do not know") {
  ModelBuilder builder;
  builder.add_particle({0, 0, 1}, {0, 0, 0}, 1.0);
  builder.add_shape_cylinder(-1, 0.5);
  const auto round = builder.finalize();
  const nova::Tensor one = vec3_rows({0, 0, 1});
  CHECK(message_of(
            [&] { integrate_particles_with_static_contacts_generated(*round, one, one, one, 0.0f, 0.1f); },
            ErrorKind::unsupported_feature) ==
        "integrate_particles_with_static_contacts_generated: shape 0 is a CYLINDER, and this operator knows "
        "PLANE, BOX, SPHERE and CAPSULE alone; build it with has_particle_collision=False");

  ModelBuilder carried;
  carried.add_particle({0, 0, 1}, {0, 0, 0}, 1.0);
  const int link = carried.add_link({.is_kinematic = true});
  carried.add_shape_box(link);
  const auto model = carried.finalize();
  CHECK(message_of(
            [&] { integrate_particles_with_static_contacts_generated(*model, one, one, one, 0.0f, 0.1f); },
            ErrorKind::unsupported_feature) ==
        "integrate_particles_with_static_contacts_generated: shape 0 is carried by body 0, and this operator "
        "knows shapes of "
        "the world alone; pass ignore_body_shapes=True to leave it out");
  const nova::Tensor inside = vec3_rows({0, 0, 0.4f}), still = vec3_rows({0, 0, 0});
  const auto next =
      integrate_particles_with_static_contacts_generated(*model, inside, still, still, 0.0f, 0.1f, true);
  CHECK(next.qd.array().read<float>()[2] == doctest::Approx(-0.981));
}
