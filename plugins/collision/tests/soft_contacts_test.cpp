// SPDX-License-Identifier: Apache-2.0
// The differentiable contact operator: forces and gradients against the same law in double, particles and
// shapes left out.
#include "diff/soft_contacts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "novaphy/builder.hpp"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/collision/formula/soft_contact_record.h"
#include "novaphy/error.hpp"
#include "novaphy/nova/tape.hpp"
#include "real.hpp"

using namespace novaphy;
using collision::eval_static_particle_shape_contact_forces_generated;
using test::Real;
using test::Vec3r;

namespace {

constexpr float kRadius = 0.2f;

/// One turned shape of ke 300, kd 4, kf 2, mu 0.3 for `particles` particles; the model's soft material is
/// unlike.
template <class AddShape>
std::shared_ptr<Model> model_with(int particles, AddShape&& add_shape) {
  ModelBuilder builder;
  for (int p = 0; p < particles; ++p) builder.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, kRadius);
  ShapeConfig cfg;
  cfg.ke = 300, cfg.kd = 4, cfg.kf = 2, cfg.mu = 0.3;
  add_shape(builder, ShapeArgs{.xform = Transformf{{0.1f, 0, 0}, normalize(Quatf{0.1f, 0.2f, 0.3f, 0.9f})},
                               .cfg = cfg});
  auto model = builder.finalize();
  const float soft[] = {200.0f, 6.0f, 4.0f, 0.5f, 0.0f};
  model->soft_contact_material.assign_bytes(soft, sizeof soft);
  return model;
}

/// What the shape does to one particle, in double.
Vec3r twin_force(const Model& model, const Vec3r& x, const Vec3r& v) {
  const auto pose = test::real(model.shape_transform.read<Transformf>()[0]);
  const auto scale = test::real(model.shape_scale.read<Vec3f>()[0]);
  const Vec3r local = transform_point(inverse(pose), x);
  const GeoType type = model.shape_type.read<GeoType>()[0];
  const auto surface = type == GeoType::BOX      ? collision::formula::box_distance(local, scale)
                       : type == GeoType::SPHERE ? collision::formula::sphere_distance(local, scale.x)
                       : type == GeoType::CAPSULE
                           ? collision::formula::capsule_distance(local, scale.x, scale.y)
                           : collision::formula::plane_distance(local, scale.x, scale.y);
  const auto contact = collision::formula::contact_geometry(local, surface, pose, pose.q);
  const Real gap =
      collision::formula::soft_contact_gap(x, Real(double{kRadius}), contact.point, contact.normal);
  if (gap > Real(0.0)) return {0.0, 0.0, 0.0};
  const auto force =
      collision::formula::soft_contact_force<Real>(gap, contact.normal, v, {250.0, 5.0, 3.0, 0.4});
  return -force;
}

/// Compares force and the gradient of dot(weight, force) with the twin at these positions and velocities in
/// the shape's frame.
void check_against_twin(const std::shared_ptr<Model>& model, const std::vector<Vec3f>& local,
                        const std::vector<Vec3f>& v) {
  const auto pose = model->shape_transform.read<Transformf>()[0];
  const auto rows = static_cast<std::int64_t>(local.size());
  std::vector<Vec3f> x, weight;
  for (const Vec3f& point : local)
    x.push_back(transform_point(pose, point)), weight.push_back({0.7f, -0.4f, 0.9f});
  const auto tensor = [&](const std::vector<Vec3f>& values) {
    return nova::Tensor::from(std::span(&values[0].x, values.size() * 3), Shape{rows, 3});
  };
  nova::Tensor q = tensor(x), qd = tensor(v), f(Shape{rows, 3}), w = tensor(weight);
  q.set_requires_grad(true), qd.set_requires_grad(true);
  nova::Tape tape;
  nova::Tensor force, loss;
  {
    const nova::TapeScope recording(tape);
    force = eval_static_particle_shape_contact_forces_generated(*model, q, qd, f, 0.0f);
    loss = nova::sum(nova::mul(force, w));
  }
  tape.backward(loss);

  const auto weighted = [&](const Vec3r& at, const Vec3r& velocity, std::size_t p) {
    return dot(twin_force(*model, at, velocity), test::real(weight[p])).value;
  };
  const auto got_f = force.array().read<Vec3f>();
  const auto got_q = q.grad()->array().read<float>(), got_qd = qd.grad()->array().read<float>();
  for (std::size_t p = 0; p < local.size(); ++p) {
    CAPTURE(p);
    const Vec3r at = test::real(x[p]), velocity = test::real(v[p]), wanted = twin_force(*model, at, velocity);
    REQUIRE(std::abs(wanted.x.value) + std::abs(wanted.y.value) + std::abs(wanted.z.value) > 0.0);
    CHECK(got_f[p].x == doctest::Approx(wanted.x.value).epsilon(1e-4));
    CHECK(got_f[p].y == doctest::Approx(wanted.y.value).epsilon(1e-4));
    CHECK(got_f[p].z == doctest::Approx(wanted.z.value).epsilon(1e-4));
    const double eps = 1e-6;
    for (std::size_t i = 0; i < 3; ++i) {
      Vec3r step{0.0, 0.0, 0.0};
      (i == 0 ? step.x : i == 1 ? step.y : step.z) = eps;
      const double dx = (weighted(at + step, velocity, p) - weighted(at - step, velocity, p)) / (2 * eps);
      const double dv = (weighted(at, velocity + step, p) - weighted(at, velocity - step, p)) / (2 * eps);
      CHECK(std::abs(got_q[3 * p + i] - dx) <= 2e-3 * 250);  // of the stiffness
      CHECK(std::abs(got_qd[3 * p + i] - dv) <= 1e-4 * 5);   // of the damping
    }
  }
}

template <class Call>
std::string message_of(Call&& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

nova::Tensor one_row(float x, float y, float z) {
  const float values[] = {x, y, z};
  return nova::Tensor::from(std::span<const float>(values), Shape{1, 3});
}

}  // namespace

TEST_CASE("forces and gradients of a turned box: at a face, an edge, a corner, inside, slow and fast") {
  const auto model = model_with(
      6, [](ModelBuilder& builder, const ShapeArgs& args) { builder.add_shape_box(-1, 1, 0.5, 0.25, args); });
  check_against_twin(model,
                     {{0.3f, 0.2f, 0.35f},
                      {1.08f, 0.55f, 0.1f},
                      {1.05f, 0.56f, 0.31f},
                      {0.2f, 0.1f, -0.2f},
                      {-1.1f, 0.2f, 0.1f},
                      {0.1f, -0.58f, 0.05f}},
                     {{0.1f, 0.2f, -0.3f},
                      {-0.2f, 0.1f, 0.2f},
                      {0.3f, -0.3f, -0.2f},
                      {0.1f, 0.2f, 0.3f},
                      {30.0f, 20.0f, -25.0f},
                      {0.1f, 1.0f, 0.2f}});
}

TEST_CASE("forces and gradients of a turned half space and of a turned sheet from both sides") {
  const auto half_space = model_with(2, [](ModelBuilder& builder, const ShapeArgs& args) {
    builder.add_shape_plane({0, 0, 1, 0}, 0, 0, -1, args);
  });
  check_against_twin(half_space, {{3, 2, 0.1f}, {-1, 4, -0.3f}}, {{0.1f, 0.2f, -0.3f}, {2, 1, -4}});
  const auto sheet = model_with(2, [](ModelBuilder& builder, const ShapeArgs& args) {
    builder.add_shape_plane({0, 0, 1, 0}, 1, 1, -1, args);
  });
  check_against_twin(sheet, {{0.2f, 0.1f, 0.1f}, {0.1f, 0.1f, -0.05f}},
                     {{0.1f, 0.2f, -0.3f}, {0.2f, 0.1f, 0.3f}});
}

TEST_CASE("forces and gradients of a turned sphere and a turned capsule: outside, inside, at the caps") {
  const auto sphere = model_with(3, [](ModelBuilder& builder, const ShapeArgs& args) {
    builder.add_shape_sphere(-1, 0.5, args);
  });
  check_against_twin(sphere, {{0.4f, 0.3f, 0.3f}, {-0.1f, 0.2f, 0.1f}, {0.0f, 0.0f, -0.6f}},
                     {{0.1f, 0.2f, -0.3f}, {2, 1, -4}, {0.2f, 0.1f, 0.3f}});
  const auto capsule = model_with(4, [](ModelBuilder& builder, const ShapeArgs& args) {
    builder.add_shape_capsule(-1, 0.3, 0.5, args);
  });
  check_against_twin(capsule, {{0.3f, 0.2f, 0.2f}, {0.1f, 0.2f, 0.8f}, {0.2f, -0.1f, -0.75f}, {0.1f, 0.1f, 0.1f}},
                     {{0.1f, 0.2f, -0.3f}, {2, 1, -4}, {0.2f, 0.1f, 0.3f}, {0.3f, 0.1f, 0.2f}});
}

TEST_CASE("particles beyond the margin, inactive ones, other worlds and ghost shapes get no force") {
  ModelBuilder one;
  ShapeConfig ghost;
  ghost.has_particle_collision = false;
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, kRadius);
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, kRadius, 0);
  one.add_shape_sphere(-1, 5.0, {.cfg = ghost});
  ModelBuilder with_ground = one;
  with_ground.add_ground_plane();
  ModelBuilder builder;
  builder.add_world(one);
  builder.add_world(with_ground);
  const auto model = builder.finalize();
  const float z[] = {0, 0, 0.1f, 0, 0, 0.1f, 0, 0, 0.1f, 0, 0, 0.1f};
  const nova::Tensor q = nova::Tensor::from(std::span<const float>(z), Shape{4, 3}), zero(Shape{4, 3});
  const nova::Tensor total = eval_static_particle_shape_contact_forces_generated(*model, q, zero, zero);
  const auto force = total.array().read<Vec3f>();
  CHECK(force[0].z == 0.0f);  // a world without ground
  CHECK(force[1].z == 0.0f);
  CHECK(force[2].z > 0.0f);
  CHECK(force[3].z == 0.0f);  // inactive
}

TEST_CASE("an external force is added to") {
  const auto model =
      model_with(1, [](ModelBuilder& builder, const ShapeArgs&) { builder.add_ground_plane(); });
  const auto far = eval_static_particle_shape_contact_forces_generated(*model, one_row(0, 0, 9),
                                                                       one_row(0, 0, 0), one_row(1, 2, 3));
  CHECK(far.array().read<Vec3f>()[0].y == 2.0f);
}

TEST_CASE("shapes that the operator does not know are named") {
  const auto round = model_with(
      1, [](ModelBuilder& builder, const ShapeArgs& args) { builder.add_shape_cylinder(-1, 1, 1, args); });
  const nova::Tensor row = one_row(0, 0, 0);
  CHECK(message_of([&] { eval_static_particle_shape_contact_forces_generated(*round, row, row, row); },
                   ErrorKind::unsupported_feature) ==
        "eval_static_particle_shape_contact_forces_generated: shape 0 is a CYLINDER, and this operator knows "
        "PLANE, BOX, SPHERE and CAPSULE alone; build it with has_particle_collision=False");
}

TEST_CASE("a margin that is not finite is refused") {
  const auto model =
      model_with(1, [](ModelBuilder& builder, const ShapeArgs&) { builder.add_ground_plane(); });
  const nova::Tensor row = one_row(0, 0, 0);
  CHECK(message_of([&] { eval_static_particle_shape_contact_forces_generated(*model, row, row, row, NAN); },
                   ErrorKind::value) ==
        "eval_static_particle_shape_contact_forces_generated: soft_contact_margin is nan; give a finite "
        "distance "
        "in m");
}

TEST_CASE("tensors of another shape are refused") {
  const auto model =
      model_with(2, [](ModelBuilder& builder, const ShapeArgs&) { builder.add_ground_plane(); });
  const nova::Tensor row = one_row(0, 0, 0), rows(Shape{2, 3});
  const std::string message =
      message_of([&] { eval_static_particle_shape_contact_forces_generated(*model, rows, row, rows); },
                 ErrorKind::shape_mismatch);
  CHECK(message.find("(1, 3)") != std::string::npos);
}
