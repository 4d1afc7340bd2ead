// SPDX-License-Identifier: Apache-2.0
// Forces of particles on each other and on triangles: gradients against the same laws in double, momentum,
// equal bits of both solvers, singular points.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "../../collision/tests/real.hpp"
#include "messages.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/formula/particle_particle.h"
#include "novaphy/semi_implicit/formula/triangle_particle.h"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/task_pool.hpp"
#include "scenes.hpp"

using namespace novaphy;
using test::Real;
using test::Vec3r;
namespace formula = semi_implicit::formula;

namespace {

/// One recorded step; the gradient of dot(weight, total force) of every array.
struct Recorded {
  std::shared_ptr<Model> model;
  std::shared_ptr<SimState> in = model->state(), out = model->state();
  std::vector<Vec3f> weight;

  Recorded(std::shared_ptr<Model> scene, test::Random& random) : model(std::move(scene)) {
    const test::LogLines overlap_is_meant;
    for (int p = 0; p < model->particle_count; ++p) weight.push_back(random.in_box(1.0f));
    DiffSemiImplicitSolver solver(model);
    nova::Tape tape;
    nova::Tensor loss;
    {
      const nova::TapeScope recording(tape);
      solver.step(*in, *out, nullptr, nullptr, 0.001f);
      loss = nova::sum(nova::mul(nova::Tensor(in->particle_f),
                                 nova::Tensor::from(std::span<const float>(&weight[0].x, weight.size() * 3),
                                                    Shape{model->particle_count, 3})));
    }
    tape.backward(loss);
  }
  std::vector<Vec3f> force() const {
    const auto f = in->particle_f.read<Vec3f>();
    return {f.begin(), f.end()};
  }
  static std::vector<float> gradient(const DeviceArray& array) {
    const auto found = nova::Tensor(array).grad();
    if (!found) return std::vector<float>(static_cast<std::size_t>(array.size()), 0.0f);
    const auto values = found->array().read<float>();
    return {values.begin(), values.end()};
  }
};

std::vector<double> numbers(std::initializer_list<const DeviceArray*> arrays) {
  std::vector<double> out;
  for (const DeviceArray* array : arrays)
    for (const float value : array->read<float>()) out.push_back(double{value});
  return out;
}

Vec3r row(const std::vector<double>& values, std::size_t first) {
  return {values[first], values[first + 1], values[first + 2]};
}

template <class Twin>
void check_gradients(const Recorded& got, std::initializer_list<const DeviceArray*> arrays, Twin&& twin,
                     double stiffness) {
  const std::vector<double> at = numbers(arrays);
  std::vector<float> gradients;
  for (const DeviceArray* array : arrays)
    for (const float value : Recorded::gradient(*array)) gradients.push_back(value);
  REQUIRE(gradients.size() == at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    CAPTURE(i);
    std::vector<double> up = at, down = at;
    up[i] += 1e-6, down[i] -= 1e-6;
    const double wanted = (twin(up) - twin(down)) / 2e-6;
    CHECK(std::abs(gradients[i] - wanted) <= 1e-5 * stiffness + 1e-4 * std::abs(wanted));
  }
  CHECK(twin(at) != 0.0);
  static_cast<void>(got);
}

void check_momentum(const std::vector<Vec3f>& forces) {
  Vec3f sum{0, 0, 0};
  float most = 0.0f;
  for (const Vec3f& f : forces) sum = sum + f, most = std::max(most, length(f));
  CHECK(length(sum) <= 4e-7f * most * static_cast<float>(forces.size()));
}

std::shared_ptr<Model> two_particles(test::Random& random) {
  ModelBuilder builder;
  const float a = random.between(0.05f, 0.1f), b = random.between(0.05f, 0.1f);
  const Vec3f centre = random.in_box(1.0f),
              away = normalize(random.in_box(1.0f)) * (random.between(0.5f, 0.95f) * (a + b));
  builder.add_particle(centre, random.in_box(1.0f), 1.0, a);
  builder.add_particle(centre + away, random.in_box(1.0f), 1.0, b);
  auto model = builder.finalize({}, true);
  model->particles_collide = true;
  const float material[] = {300.0f, 5.0f, random.between(1, 20), random.between(0.1f, 1), 0.0f, 0.0f};
  model->particle_contact_material.assign_bytes(material, sizeof material);
  return model;
}

/// A particle near a triangle of other particles: above its face, beside an edge or a corner as chance has
/// it.
std::shared_ptr<Model> triangle_and_particle(test::Random& random) {
  ModelBuilder builder;
  for (;;) {
    std::array<Vec3f, 4> x;
    for (Vec3f& v : x) v = random.in_box(0.5f);
    const auto approach = formula::approach_triangle(x);
    const float radius = random.between(0.1f, 0.2f);
    if (approach.distance < 0.02f || approach.distance > 0.9f * radius) continue;
    builder.add_particle(x[0], {0, 0, 0}, 1.0, radius);
    for (int k = 1; k < 4; ++k) builder.add_particle(x[static_cast<std::size_t>(k)], {0, 0, 0}, 1.0, 0.001);
    builder.add_triangle(1, 2, 3,
                         {.tri_ke = 0.0, .tri_ka = 0.0, .tri_kd = 0.0, .tri_drag = 0.0, .tri_lift = 0.0});
    auto model = builder.finalize({}, true);
    test::set_soft_contact_material(*model, 400.0f, 3.0f, 10.0f, 0.5f);
    return model;
  }
}

}  // namespace

TEST_CASE("two particles that overlap: force and every gradient are the double twin's, momentum is kept") {
  test::Random random(71);
  for (int configuration = 0; configuration < 20; ++configuration) {
    CAPTURE(configuration);
    const Recorded got(two_particles(random), random);
    const Vec3r difference = test::real(got.weight[0]) - test::real(got.weight[1]);
    const auto twin = [&](const std::vector<double>& n) {  // q 6, qd 6, radius 2, material 6
      const Vec3r apart = row(n, 0) - row(n, 3), v = row(n, 6) - row(n, 9);
      const Real gap = formula::particle_gap(apart, Real(n[12]), Real(n[13]));
      return dot(difference,
                 formula::particle_contact_force<Real>(apart, v, gap, {n[14], n[15], n[16], n[17]}))
          .value;
    };
    check_gradients(got,
                    {&got.in->particle_q, &got.in->particle_qd, &got.model->particle_radius,
                     &got.model->particle_contact_material},
                    twin, 300.0);
    check_momentum(got.force());
  }
}

TEST_CASE("a particle beside a triangle: force and every gradient are the double twin's, momentum is kept") {
  test::Random random(72);
  int faces = 0, edges = 0, corners = 0;
  for (int configuration = 0; configuration < 60; ++configuration) {
    CAPTURE(configuration);
    const Recorded got(triangle_and_particle(random), random);
    const auto twin = [&](const std::vector<double>& n) {  // q 12, radius 4, soft material 5
      const auto approach = formula::approach_triangle<Real>({row(n, 0), row(n, 3), row(n, 6), row(n, 9)});
      const auto forces = formula::triangle_contact_forces(approach, Real(n[12]), Real(n[16]));
      double sum = 0.0;
      for (std::size_t k = 0; k < 4; ++k) sum += dot(test::real(got.weight[k]), forces[k]).value;
      return sum;
    };
    check_gradients(got,
                    {&got.in->particle_q, &got.model->particle_radius, &got.model->soft_contact_material},
                    twin, 400.0);
    check_momentum(got.force());
    const auto x = got.in->particle_q.read<Vec3f>();
    const Vec3f at = formula::closest_on_triangle(x[1], x[2], x[3], x[0]);
    const int zeros = (at.x == 0.0f) + (at.y == 0.0f) + (at.z == 0.0f);
    (zeros == 0 ? faces : zeros == 1 ? edges : corners) += 1;
  }
  CHECK(faces >= 5);
  CHECK(edges >= 5);
  CHECK(corners >= 5);
}

TEST_CASE(
    "a heap of particles and cloth falls with the same bits from both solvers, recorded or not, on any "
    "threads") {
  test::Random random(8);
  const test::LogLines overlap_is_meant;
  ModelBuilder builder;
  builder.add_cloth_grid(
      {.dim_x = 6, .dim_y = 6, .cell_x = 0.1f, .cell_y = 0.1f, .mass = 0.1, .particle_radius = 0.02});
  for (int p = 0; p < 60; ++p)
    builder.add_particle(Vec3f{0.3f, 0.3f, 0.4f} + random.in_box(0.3f), random.in_box(1.0f), 0.1, 0.04);
  const auto model = builder.finalize();
  model->particles_collide = true;
  const float material[] = {200.0f, 1.0f, 1.0f, 0.5f, 0.002f, 0.0f};
  model->particle_contact_material.assign_bytes(material, sizeof material);
  test::set_soft_contact_material(*model, 200.0f, 1.0f, 1.0f, 0.5f);
  SolverSemiImplicit forward(model), fine(model);
  fine.set_grain(7);
  DiffSemiImplicitSolver recorded(model);
  std::vector<std::shared_ptr<SimState>> a{model->state()}, b{model->state()}, c{model->state()},
      d{model->state()};
  nova::Tape tape;
  for (std::size_t t = 0; t < 80; ++t) {
    for (auto* states : {&a, &b, &c, &d}) states->push_back(model->state());
    forward.step(*a[t], *a[t + 1], nullptr, nullptr, 0.003f);
    fine.step(*b[t], *b[t + 1], nullptr, nullptr, 0.003f);
    recorded.step(*c[t], *c[t + 1], nullptr, nullptr, 0.003f);
    const nova::TapeScope recording(tape);
    recorded.step(*d[t], *d[t + 1], nullptr, nullptr, 0.003f);
    REQUIRE(test::same_bits(a[t]->particle_f, d[t]->particle_f));
  }
  for (const auto* states : {&b, &c, &d}) {
    CHECK(test::same_bits(a.back()->particle_q, states->back()->particle_q));
    CHECK(test::same_bits(a.back()->particle_qd, states->back()->particle_qd));
  }
  // both kinds of contact really acted: without them the motion is another
  SolverSemiImplicit without(model, {.enable_tri_contact = false});
  const auto x = model->state(), y = model->state();
  without.step(*a[40], *x, nullptr, nullptr, 0.003f);
  CHECK_FALSE(test::same_bits(x->particle_q, a[41]->particle_q));
  model->particles_collide = false;
  forward.step(*a[40], *y, nullptr, nullptr, 0.003f);
  CHECK_FALSE(test::same_bits(y->particle_q, a[41]->particle_q));
}

TEST_CASE("particles at one place, and one on a triangle, get no push and finite gradients") {
  test::Random random(9);
  ModelBuilder two;
  for (int p = 0; p < 2; ++p) two.add_particle({0.3f, 0.2f, 0.1f}, {0, 0, 0}, 1.0, 0.1);
  auto model = two.finalize({}, true);
  model->particles_collide = true;
  const Recorded together(model, random);
  for (const Vec3f& f : together.force()) CHECK(length(f) == 0.0f);
  for (const float g : Recorded::gradient(together.in->particle_q)) CHECK(std::isfinite(g));
  for (const float g : Recorded::gradient(together.in->particle_qd)) CHECK(std::isfinite(g));

  ModelBuilder flat;
  flat.add_particle({0.2f, 0.2f, 0}, {0, 0, 0}, 1.0, 0.1);
  flat.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, 0.001);
  flat.add_particle({1, 0, 0}, {0, 0, 0}, 1.0, 0.001);
  flat.add_particle({0, 1, 0}, {0, 0, 0}, 1.0, 0.001);
  flat.add_triangle(1, 2, 3, {.tri_ke = 0.0, .tri_ka = 0.0, .tri_kd = 0.0, .tri_drag = 0.0, .tri_lift = 0.0});
  const Recorded on_it(flat.finalize({}, true), random);
  for (const Vec3f& f : on_it.force()) CHECK(length(f) == 0.0f);
  for (const float g : Recorded::gradient(on_it.in->particle_q)) CHECK(std::isfinite(g));
}

TEST_CASE("at rest against each other particles have a finite gradient, and adhesive cohesion pulls") {
  test::Random random(10);
  ModelBuilder builder;
  builder.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, 0.1);
  builder.add_particle({0.19f, 0, 0}, {0, 0, 0}, 1.0, 0.1);
  auto model = builder.finalize({}, true);
  model->particles_collide = true;
  const Recorded still(model, random);
  CHECK(still.force()[0].x == doctest::Approx(-1000.0f * 0.01f).epsilon(1e-4));
  for (const float g : Recorded::gradient(still.in->particle_qd)) CHECK(std::isfinite(g));
  model->particle_contact_material.write<float>()[4] = 0.05f;
  model->particle_q.write<Vec3f>()[1].x = 0.22f;
  const Recorded pulled(model, random);
  CHECK(pulled.force()[0].x == doctest::Approx(1000.0f * 0.02f).epsilon(1e-4));
}

TEST_CASE("both solvers say at their first step which radii overlap at rest, once") {
  ModelBuilder builder;
  for (int p = 0; p < 3; ++p)
    builder.add_particle({0.01f * static_cast<float>(p), 0, 0}, {0, 0, 0}, 1.0, 0.1);
  const auto model = builder.finalize();
  const auto in = model->state(), out = model->state();
  const std::string sentence =
      ": particles 0 and 1 are 0.01 m apart at rest, less than their radii, which sum to 0.2 m, and so are 2 "
      "more pairs: they "
      "push each other from the first step on; give a smaller particle_radius, or set model.particle_grid to "
      "None";
  SolverSemiImplicit forward(model);
  DiffSemiImplicitSolver recorded(model);
  const test::LogLines log;
  forward.step(*in, *out, nullptr, nullptr, 0.001f);
  CHECK(log.lines.empty());
  model->particles_collide = true;
  for (int step = 0; step < 2; ++step) forward.step(*in, *out, nullptr, nullptr, 0.001f);
  for (int step = 0; step < 2; ++step) recorded.step(*in, *out, nullptr, nullptr, 0.001f);
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[0].find("SolverSemiImplicit" + sentence) != std::string::npos);
  CHECK(log.lines[1].find("DiffSemiImplicitSolver" + sentence) != std::string::npos);
}
