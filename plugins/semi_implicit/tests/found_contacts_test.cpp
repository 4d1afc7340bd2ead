// SPDX-License-Identifier: Apache-2.0
// Contacts that are collided inside the recording, and shapes on kinematic bodies: the gradient of the
// contact force against the same law in double, for every kind of shape.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "messages.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/collision/formula/carried_contact.h"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/collision/formula/soft_contact_record.h"
#include "novaphy/nova/tape.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "../../collision/tests/real.hpp"
#include "scenes.hpp"

using namespace novaphy;
using test::Real;
using test::Vec3r;
namespace contact = collision::formula;

namespace {

/// Everything that one contact depends on, as one row of numbers.
struct Numbers {
  std::vector<double> values;
  std::size_t next = 0;
  Real one() { return values[next++]; }
  Vec3r three() {
    const Real x = one(), y = one();
    return {x, y, one()};
  }
  TransformT<Real> pose() {
    const Vec3r p = three();
    const Vec3r q = three();
    return {p, {q.x, q.y, q.z, one()}};
  }
};

/// The arrays of model and state behind Numbers, in the order in which the twin reads them.
std::vector<const DeviceArray*> arrays_of(const Model& model, const SimState& state) {
  return {&state.particle_q,
          &state.particle_qd,
          &model.particle_radius,
          &model.shape_transform,
          &model.shape_scale,
          &model.shape_material_ke,
          &model.shape_material_kd,
          &model.shape_material_kf,
          &model.shape_material_mu,
          &model.soft_contact_material,
          &state.body_q,
          &state.body_qd};
}

/// dot(weight, contact force on the particle). `fixed`: the point and normal of a record that stay.
double twin(Numbers n, GeoType type, bool carried, const Vec3r& com, const Vec3r& weight,
            const contact::ContactGeometry<Real>* fixed, contact::ContactGeometry<Real>* found = nullptr) {
  const Vec3r x = n.three();
  Vec3r v = n.three();
  const Real radius = n.one();
  const TransformT<Real> in_body = n.pose();
  const Vec3r scale = n.three();
  const contact::SoftContactMaterial<Real> shape{n.one(), n.one(), n.one(), n.one()};
  const contact::SoftContactMaterial<Real> soft{n.one(), n.one(), n.one(), n.one()};
  n.one();  // restitution
  TransformT<Real> body{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
  SpatialT<Real> twist{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  if (carried) {
    body = n.pose();
    twist.linear = n.three();
    twist.angular = n.three();
  }
  const TransformT<Real> in_world = carried ? body * in_body : in_body;
  const Vec3r local = transform_point(inverse(in_world), x);
  const auto surface = type == GeoType::BOX       ? contact::box_distance(local, scale)
                       : type == GeoType::SPHERE  ? contact::sphere_distance(local, scale.x)
                       : type == GeoType::CAPSULE ? contact::capsule_distance(local, scale.x, scale.y)
                                                  : contact::plane_distance(local, scale.x, scale.y);
  const auto geometry =
      fixed != nullptr ? *fixed : contact::contact_geometry(local, surface, in_body, in_world.q);
  if (found != nullptr) *found = geometry;
  contact::MovingPoint<Real> at{geometry.point, {0.0, 0.0, 0.0}};
  if (carried) at = contact::carried_contact(body, twist, com, geometry.point, Vec3r{0.0, 0.0, 0.0});
  const Real gap = contact::soft_contact_gap(x, radius, at.point, geometry.normal);
  if (gap > Real(0.0)) return 0.0;
  const Vec3r force =
      contact::soft_contact_force<Real>(gap, geometry.normal, v - at.velocity, contact::mix(soft, shape));
  return -dot(weight, force).value;
}

struct Scene {
  GeoType type;
  bool carried;
  std::shared_ptr<Model> model;
  std::shared_ptr<SimState> in, out;

  Scene(test::Random& random, GeoType shape, bool on_body) : type(shape), carried(on_body) {
    ModelBuilder builder;
    builder.add_particle({0, 0, 0}, random.in_box(1.5f), 1.0, random.between(0.05f, 0.1f));
    int body = -1;
    if (carried)
      body = builder.add_link({.xform = Transformf{random.in_box(0.5f), random.rotation()},
                               .com = random.in_box(0.2f),
                               .is_kinematic = true});
    ShapeConfig cfg;
    cfg.ke = random.between(100, 300), cfg.kd = random.between(1, 5), cfg.kf = random.between(5, 20);
    cfg.mu = random.between(0.2f, 1);
    const ShapeArgs args{.xform = Transformf{random.in_box(0.3f), random.rotation()}, .cfg = cfg};
    if (type == GeoType::PLANE) builder.add_shape_plane({0, 0, 1, 0}, 0, 0, body, args);
    if (type == GeoType::BOX) builder.add_shape_box(body, 0.4, 0.3, 0.5, args);
    if (type == GeoType::SPHERE) builder.add_shape_sphere(body, 0.4, args);
    if (type == GeoType::CAPSULE) builder.add_shape_capsule(body, 0.2, 0.3, args);
    model = builder.finalize({}, true);
    test::set_soft_contact_material(*model, 200.0f, 3.0f, 10.0f, 0.5f);
    in = model->state(), out = model->state();
    place(random);
  }

  /// Puts the particle a little into the surface, beside faces too, and gives the body a twist.
  void place(test::Random& random) {
    Transformf pose = model->shape_transform.read<Transformf>()[0];
    if (carried) {
      pose = in->body_q.read<Transformf>()[0] * pose;
      in->body_qd.write<Spatialf>()[0] = {random.in_box(1.0f), random.in_box(1.0f)};
    }
    const float r = model->particle_radius.read<float>()[0];
    for (;;) {
      const Vec3f local = random.in_box(0.7f);
      const Vec3f scale = model->shape_scale.read<Vec3f>()[0];
      const auto surface = type == GeoType::BOX       ? contact::box_distance(local, scale)
                           : type == GeoType::SPHERE  ? contact::sphere_distance(local, scale.x)
                           : type == GeoType::CAPSULE ? contact::capsule_distance(local, scale.x, scale.y)
                                                      : contact::plane_distance(local, scale.x, scale.y);
      if (surface.distance > 0.9f * r || surface.distance < 0.1f * r) continue;
      in->particle_q.write<Vec3f>()[0] = transform_point(pose, local);
      return;
    }
  }

  Numbers numbers() const {
    Numbers out_numbers;
    for (const DeviceArray* array : arrays_of(*model, *in))
      for (const float value : array->read<float>()) out_numbers.values.push_back(double{value});
    return out_numbers;
  }

  std::vector<float> gradients() const {
    std::vector<float> all;
    for (const DeviceArray* array : arrays_of(*model, *in)) {
      const auto gradient = nova::Tensor(*array).grad();
      const auto count = static_cast<std::size_t>(array->size());
      if (!gradient) {
        all.insert(all.end(), count, 0.0f);
        continue;
      }
      const auto values = gradient->array().read<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
};

/// One recorded step; `inside`: collided in the recording. Compares the force and all gradients with the
/// twin.
void check_against_twin(Scene& scene, test::Random& random, bool inside) {
  const Vec3f weight = random.in_box(1.0f);
  const Vec3r com = scene.carried ? test::real(scene.model->body_com.read<Vec3f>()[0]) : Vec3r{0.0, 0.0, 0.0};
  CollisionPipeline pipeline(scene.model, {});
  const auto contacts = pipeline.contacts();
  DiffSemiImplicitSolver solver(scene.model);
  nova::Tape tape;
  nova::Tensor loss;
  if (!inside) pipeline.collide(*scene.in, *contacts);
  {
    const nova::TapeScope recording(tape);
    if (inside) pipeline.collide(*scene.in, *contacts);
    solver.step(*scene.in, *scene.out, nullptr, contacts.get(), 0.001f);
    loss = nova::sum(nova::mul(nova::Tensor(scene.in->particle_f),
                               nova::Tensor::from(std::span(&weight.x, 3), Shape{1, 3})));
  }
  REQUIRE(contacts->soft_contacts_used() == 1);
  tape.backward(loss);

  const Numbers at = scene.numbers();
  contact::ContactGeometry<Real> fixed;
  const double value = twin(at, scene.type, scene.carried, com, test::real(weight), nullptr, &fixed);
  const auto* kept = inside ? nullptr : &fixed;
  CHECK(loss.item() == doctest::Approx(value).epsilon(1e-4));
  const std::vector<float> got = scene.gradients();
  REQUIRE(got.size() == at.values.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    Numbers up = at, down = at;
    const double eps = 1e-6;
    up.values[i] += eps, down.values[i] -= eps;
    const double wanted = (twin(up, scene.type, scene.carried, com, test::real(weight), kept) -
                           twin(down, scene.type, scene.carried, com, test::real(weight), kept)) /
                          (2 * eps);
    CHECK(std::abs(got[i] - wanted) <= 1e-5 * 250 + 1e-4 * std::abs(wanted));  // of the stiffness
  }
}

}  // namespace

TEST_CASE(
    "collided inside the recording: every gradient is that of the double twin, on the world and on bodies") {
  test::Random random(61);
  for (const GeoType type : {GeoType::PLANE, GeoType::BOX, GeoType::SPHERE, GeoType::CAPSULE})
    for (int configuration = 0; configuration < 20; ++configuration) {
      CAPTURE(static_cast<int>(type));
      CAPTURE(configuration);
      Scene scene(random, type, configuration % 2 == 1);
      check_against_twin(scene, random, true);
    }
}

TEST_CASE("collided before the recording: point and normal of the record are constants, bodies carry them") {
  test::Random random(62);
  for (const GeoType type : {GeoType::BOX, GeoType::SPHERE})
    for (int configuration = 0; configuration < 20; ++configuration) {
      CAPTURE(static_cast<int>(type));
      CAPTURE(configuration);
      Scene scene(random, type, configuration % 2 == 1);
      check_against_twin(scene, random, false);
    }
}

TEST_CASE(
    "a rollout against shapes on kinematic bodies has the same bits from both solvers, recorded or not") {
  ModelBuilder builder;
  test::Random random(5);
  for (int p = 0; p < 40; ++p) builder.add_particle(random.in_box(0.8f), random.in_box(1.0f), 1.0, 0.05);
  for (int s = 0; s < 6; ++s) {
    const int body = s % 3 == 0
                         ? -1
                         : builder.add_link({.xform = Transformf{random.in_box(0.5f), random.rotation()},
                                             .com = random.in_box(0.1f),
                                             .is_kinematic = true});
    const ShapeArgs args{.xform = Transformf{random.in_box(0.5f), random.rotation()}};
    if (s % 2 == 0) builder.add_shape_box(body, 0.3, 0.2, 0.3, args);
    if (s % 2 == 1) builder.add_shape_capsule(body, 0.2, 0.3, args);
  }
  const auto model = builder.finalize();
  SolverSemiImplicit forward(model);
  DiffSemiImplicitSolver recorded(model);
  CollisionPipeline pipeline(model, {});
  const auto contacts = pipeline.contacts();
  const auto start = model->state();
  for (Spatialf& twist : start->body_qd.write<Spatialf>()) twist = {random.in_box(1.0f), random.in_box(2.0f)};
  std::vector<std::shared_ptr<SimState>> a{start->clone()}, b{start->clone()}, c{start->clone()};
  nova::Tape tape;
  int touching = 0;
  for (std::size_t t = 0; t < 30; ++t) {
    for (auto* states : {&a, &b, &c}) states->push_back(model->state());
    pipeline.collide(*a[t], *contacts);
    touching += contacts->soft_contacts_used();
    forward.step(*a[t], *a[t + 1], nullptr, contacts.get(), 0.002f);
    pipeline.collide(*b[t], *contacts);
    recorded.step(*b[t], *b[t + 1], nullptr, contacts.get(), 0.002f);
    const nova::TapeScope recording(tape);
    pipeline.collide(*c[t], *contacts);
    recorded.step(*c[t], *c[t + 1], nullptr, contacts.get(), 0.002f);
  }
  CHECK(touching > 200);
  const auto bits = [](const DeviceArray& x, const DeviceArray& y) {
    return std::ranges::equal(x.read<float>(), y.read<float>());
  };
  for (std::size_t t = 0; t <= 30; ++t) {
    CHECK(bits(a[t]->particle_q, b[t]->particle_q));
    CHECK(bits(a[t]->particle_qd, c[t]->particle_qd));
    if (t < 30) CHECK(bits(a[t]->particle_f, c[t]->particle_f));
  }
}

TEST_CASE("positions that were overwritten after a collide in the recording are an error at the step") {
  test::Random random(7);
  Scene scene(random, GeoType::SPHERE, false);
  CollisionPipeline pipeline(scene.model, {});
  const auto contacts = pipeline.contacts();
  DiffSemiImplicitSolver solver(scene.model);
  nova::Tape tape;
  const nova::TapeScope recording(tape);
  pipeline.collide(*scene.in, *contacts);
  scene.in->particle_q.write<Vec3f>()[0].x += 0.01f;
  CHECK(test::message_of([&] { solver.step(*scene.in, *scene.out, nullptr, contacts.get(), 0.001f); },
                         ErrorKind::stale_record) ==
        "DiffSemiImplicitSolver.step: the contacts were collided in this recording, and since then the "
        "records, or "
        "the positions or poses that they were found with, were overwritten; collide again, or collide "
        "before the "
        "recording so that the records are constants");
}

TEST_CASE("a particle at the centre of a sphere and on the axis of a capsule has finite gradients") {
  for (const bool capsule : {false, true}) {
    ModelBuilder builder;
    builder.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, 0.1);
    if (capsule)
      builder.add_shape_capsule(-1, 0.3, 0.5);
    else
      builder.add_shape_sphere(-1, 0.3);
    const auto model = builder.finalize({}, true);
    const auto in = model->state(), out = model->state();
    CollisionPipeline pipeline(model, {});
    const auto contacts = pipeline.contacts();
    DiffSemiImplicitSolver solver(model);
    nova::Tape tape;
    nova::Tensor loss;
    {
      const nova::TapeScope recording(tape);
      pipeline.collide(*in, *contacts);
      solver.step(*in, *out, nullptr, contacts.get(), 0.001f);
      loss = nova::sum(nova::Tensor(in->particle_f));
    }
    CHECK(loss.item() > 0.0f);
    tape.backward(loss);
    for (const DeviceArray* array : {&in->particle_q, &in->particle_qd, &model->shape_scale})
      for (const float value : nova::Tensor(*array).grad()->array().read<float>())
        CHECK(std::isfinite(value));
  }
}
