// SPDX-License-Identifier: Apache-2.0
// The largest stable dt against closed forms and against the step itself, and what solvers say of dt and of values that
// are not finite.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "messages.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/semi_implicit/stability.hpp"

namespace novaphy {
namespace {

using semi_implicit::stability_report;
using semi_implicit::StabilityReport;
using test::message_of;

double limit(const StabilityReport& report, const std::string& name) {
  for (const auto& entry : report.limits)
    if (entry.name == name) return entry.max_dt;
  return std::numeric_limits<double>::quiet_NaN();
}

double substeps(double dt) {
  return 1.0 / 60.0 / dt;
}

std::shared_ptr<Model> soft_block(double k_mu, double k_damp) {
  ModelBuilder b;
  b.add_soft_grid({.pos = {0, 0, 0.1f}, .vel = {-2, 0, 0}, .dim_x = 20, .dim_y = 4, .dim_z = 10, .cell_x = 0.01,
                   .cell_y = 0.005, .cell_z = 0.01, .density = 10, .k_mu = k_mu, .k_lambda = 1000, .k_damp = k_damp});
  return b.finalize();
}

/// Two particles of mass 1 and a spring: w^2 = 2 ke, c = 2 kd.
std::shared_ptr<Model> spring_pair(double ke, double kd) {
  ModelBuilder b;
  b.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  b.add_particle({1, 0, 0}, {0, 0, 0}, 1.0);
  b.add_spring(0, 1, ke, kd, 0);
  return b.finalize();
}

template <class Call>
std::string warnings_of(Call call) {
  const test::LogLines log;
  call();
  std::string told;
  for (const std::string& line : log.lines) told += line;
  return told;
}

void step_many(ISolver& solver, const Model& model, float dt, int steps) {
  auto a = model.state(), b = model.state();
  for (int k = 0; k < steps; ++k) {
    a->clear_forces();
    solver.step(*a, *b, nullptr, nullptr, dt);
    std::swap(a, b);
  }
}

/// How far a spring that is stretched by 1 mm gets from there.
float farthest(const std::shared_ptr<Model>& model, float dt) {
  SolverSemiImplicit solver(model, {.check_stability = false});
  auto a = model->state(), b = model->state();
  a->particle_q.write<Vec3f>()[1].x = 1.001f;
  float out = 0;
  for (int k = 0; k < 400; ++k) {
    a->clear_forces();
    solver.step(*a, *b, nullptr, nullptr, dt);
    std::swap(a, b);
    const auto q = a->particle_q.read<Vec3f>();
    out = std::max(out, std::abs(length(q[1] - q[0]) - 1.0f));
  }
  return out;
}

}  // namespace

TEST_CASE("the limits of the block of 20 x 4 x 10 cells are those of its eigenvalues") {
  const StabilityReport soft = stability_report(*soft_block(1000, 1), 1.0f / 60 / 32);
  CHECK(2 / limit(soft, "elastic") == doctest::Approx(5613).epsilon(0.002));   // w_max, 1/s
  CHECK(2 / limit(soft, "damping") == doctest::Approx(33850).epsilon(0.002));  // c_max, 1/s
  CHECK(substeps(limit(soft, "elements")) == doctest::Approx(290).epsilon(0.005));
  CHECK_FALSE(soft.ok);
  const StabilityReport stiff = stability_report(*soft_block(3000, 1), 1.0f / 60 / 32);
  CHECK(2 / limit(stiff, "elastic") == doctest::Approx(7870).epsilon(0.002));
  CHECK(substeps(stiff.max_dt) == doctest::Approx(297).epsilon(0.005));
  CHECK(substeps(limit(stiff, "damping")) == doctest::Approx(282).epsilon(0.005));
  CHECK(substeps(limit(stiff, "elastic")) == doctest::Approx(66).epsilon(0.01));
  CHECK(stiff.worst_element.starts_with("tetrahedron "));
  CHECK(substeps(stability_report(*soft_block(3000, 0.05), 1.0f / 60 / 340).max_dt) == doctest::Approx(73).epsilon(0.01));
}

TEST_CASE("the text names the substeps, the material's own limit and radii that overlap") {
  const std::string said = stability_report(*soft_block(3000, 1), 1.0f / 60 / 32).text;
  CHECK(said.find("dt = 0.000520833 s is too long for the elements, which want at most 5.61") == 0);
  CHECK(said.find("(about 297 substeps a frame of 1/60 s); tetrahedron ") != said.npos);
  CHECK(said.find("damping alone at most 5.9077") != said.npos);
  CHECK(said.find("(about 282 substeps a frame of 1/60 s).") != said.npos);
  CHECK(said.find("Take more substeps, or lower the damping (k_damp, kd), or make particles heavier or elements larger.") !=
        said.npos);
  CHECK(said.find("k_mu < 8 k_lambda holds everywhere: tetrahedron 0 comes nearest with k_mu = 3000 and k_lambda = 1000.") !=
        said.npos);
  CHECK(said.find("Particles of radius 0.1 m overlap at rest, neighbours are 0.005 m apart: triangles push "
                  "them out at the first step (enable_tri_contact=False); give particle_radius of at most 0.0025 m.") != said.npos);
}

TEST_CASE("a material that collapses is refused at any dt, by element") {
  const auto model = soft_block(1000, 0.05);
  model->particle_tet_material.write<Vec3f>()[7] = {9000, 1000, 0.05f};
  const StabilityReport report = stability_report(*model, 1e-6f);
  CHECK_FALSE(report.ok);
  CHECK(report.worst_element == "tetrahedron 7");
  CHECK(report.text.find("k_mu < 8 k_lambda must hold, else an element collapses at any dt: tetrahedron 7 has k_mu = 9000 "
                         "and k_lambda = 1000 (1 of 4000 tetrahedra); lower k_mu or raise k_lambda.") != std::string::npos);
}

TEST_CASE("a spring is stable below its limit and not above, as the step shows") {
  for (const auto& [ke, kd] : {std::pair{1e4, 0.0}, {1e4, 30.0}, {10.0, 100.0}}) {
    const auto model = spring_pair(ke, kd);
    const StabilityReport report = stability_report(*model, 1e-4f);
    const double w2 = 2 * ke, c = 2 * kd;
    const double closed = (-c + std::sqrt(c * c + 4 * w2)) / w2;  // 2 c dt + w^2 dt^2 = 4
    CHECK(report.max_dt == doctest::Approx(closed).epsilon(1e-4));
    CHECK(report.worst_element == "spring 0");
    CHECK(report.ok);
    CHECK(farthest(model, static_cast<float>(0.98 * closed)) < 0.02f);
    CHECK(farthest(model, static_cast<float>(1.02 * closed)) > 1.0f);
  }
}

TEST_CASE("triangles and bending edges count as far as they are stiff") {
  ModelBuilder b;
  b.add_cloth_grid({.dim_x = 6, .dim_y = 6, .cell_x = 0.1, .cell_y = 0.1, .mass = 0.1,
                    .tri = {.tri_ke = 1e3, .tri_ka = 1e3, .tri_kd = 0.0}, .edge = {.edge_ke = 0.0}, .particle_radius = 0.01});
  const auto model = b.finalize();
  const StabilityReport membrane = stability_report(*model, 1e-4f);
  CHECK(membrane.worst_element.starts_with("triangle "));
  for (float& number : model->edge_bending_properties.write<float>()) number = 1e4f;
  const StabilityReport plate = stability_report(*model, 1e-4f);
  CHECK(plate.worst_element.starts_with("bending edge "));
  CHECK(plate.max_dt < 0.5 * membrane.max_dt);
}

TEST_CASE("a concrete block wants a dt within a factor of 5 of the time that its waves take through a cell") {
  for (const double young : {1e6, 3.45e6, 3.45e9}) {
    const double poisson = 0.2, mu = young / (2 * (1 + poisson)),
                 lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    ModelBuilder b;
    b.add_soft_grid({.dim_x = 5, .dim_y = 5, .dim_z = 5, .cell_x = 0.1, .cell_y = 0.1, .cell_z = 0.1, .density = 2400,
                     .k_mu = mu, .k_lambda = lambda});
    const StabilityReport report = stability_report(*b.finalize(), 1e-3f);
    const double crossing = 0.1 / std::sqrt(young / 2400);
    CHECK(report.max_dt > crossing / 5);
    CHECK(report.max_dt < crossing * 5);
    CHECK(report.ok == (report.max_dt >= 1e-3f));
    if (young > 1e9) CHECK_FALSE(report.ok);
  }
}

TEST_CASE("contact is bounded by the lightest particle on the stiffest shape") {
  ModelBuilder b;
  b.add_particle({0, 0, 1}, {0, 0, 0}, 0.5);
  b.add_particle({1, 0, 1}, {0, 0, 0}, 0.005);
  b.add_particle({2, 0, 1}, {0, 0, 0}, 0.0);
  b.add_ground_plane();
  const StabilityReport report = stability_report(*b.finalize(), 1e-3f);
  const double w2 = 1750 / 0.005, c = 55 / 0.005;  // means of 1000 and 2500, of 10 and 100
  CHECK(limit(report, "contact") == doctest::Approx((-c + std::sqrt(c * c + 4 * w2)) / w2).epsilon(1e-4));
  CHECK(limit(report, "friction") == doctest::Approx(2 * 0.005 / 1000).epsilon(1e-4));
  CHECK_FALSE(report.ok);
  CHECK(report.text.find("particle 1 of 0.005 kg on shape 0 ('ground_plane') with ke = 1750 and kd = 55 (means of the "
                         "model's soft_contact and the shape's); lower kd, then ke, in both places.") != std::string::npos);
}

TEST_CASE("steps without contacts are not warned of contact") {
  ModelBuilder b;
  b.add_particle({0, 0, 1}, {0, 0, 0}, 0.005);
  b.add_ground_plane();
  const auto model = b.finalize();
  SolverSemiImplicit solver(model);
  CHECK(warnings_of([&] { step_many(solver, *model, 1e-3f, 1); }) == "");
  const auto contacts = model->contacts(1, 0);
  contacts->clear();
  auto before = model->state(), after = model->state();
  CHECK(warnings_of([&] { solver.step(*before, *after, nullptr, contacts.get(), 1e-3f); })
            .find("SolverSemiImplicit.step: In contact dt must be at most 0.00018") == 0);
}

TEST_CASE("a model without forces has no limit, and nonsense is refused") {
  ModelBuilder b;
  b.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  const auto model = b.finalize();
  const StabilityReport report = stability_report(*model, 1.0f);
  CHECK(report.ok);
  CHECK(std::isinf(report.max_dt));
  CHECK(report.text == "Nothing in this model bounds dt.");
  CHECK(message_of([&] { stability_report(*model, 0.0f); }, ErrorKind::value) ==
        "stability_report: dt is 0; give a positive time in s");
  const auto other = spring_pair(1, 0)->state();
  CHECK(message_of([&] { stability_report(*model, 1.0f, other.get()); }, ErrorKind::shape_mismatch) ==
        "stability_report: state has 2 particles, the model has 1; take it from this model's state()");
}

TEST_CASE("both solvers warn before the first step with a dt that is too long, once for a model and dt") {
  const auto model = spring_pair(1e4, 0.0);
  const std::string told = warnings_of([&] {
    SolverSemiImplicit forward(model);
    step_many(forward, *model, 0.02f, 2);
    DiffSemiImplicitSolver recorded(model);
    step_many(recorded, *model, 0.02f, 2);
  });
  CHECK(told.find("SolverSemiImplicit.step: dt = 0.02 s is too long for the elements") == 0);
  CHECK(told.find("dt = 0.02 s", 40) == std::string::npos);
  CHECK(warnings_of([&] {
          DiffSemiImplicitSolver recorded(model);
          step_many(recorded, *model, 0.03f, 1);
        }).find("DiffSemiImplicitSolver.step: dt = 0.03 s is too long") == 0);
  CHECK(warnings_of([&] {
          SolverSemiImplicit silent(model, {.check_stability = false});
          step_many(silent, *model, 0.04f, 1);
          SolverSemiImplicit fine(model);
          step_many(fine, *model, 0.001f, 1);
        }) == "");
}

TEST_CASE("the first value that is not finite is refused at its step with particle and element") {
  const auto model = soft_block(1000, 0.05);
  const float dt = 1.0f / 60 / 340;
  const auto broken = [&](ISolver& solver) {
    auto a = model->state(), b = model->state();
    solver.step(*a, *b, nullptr, nullptr, dt);
    b->particle_f.write<Vec3f>()[model->tet_indices.read<std::int32_t>()[4 * 40]].y = std::numeric_limits<float>::infinity();
    return message_of([&] { solver.step(*b, *a, nullptr, nullptr, dt); }, ErrorKind::domain_check);
  };
  SolverSemiImplicit forward(model);
  DiffSemiImplicitSolver recorded(model);
  const std::string first = broken(forward), second = broken(recorded);
  CHECK(first.find("SolverSemiImplicit.step: at step 2 of this solver particle ") == 0);
  CHECK(first.find(" of tetrahedron ") != std::string::npos);
  CHECK(first.find(" got the force (") != std::string::npos);
  CHECK(first.find("The model's start is stable with this dt; look at the state that was given, at external forces "
                           "and at parameters that were changed since.") != std::string::npos);
  CHECK(second.find("DiffSemiImplicitSolver.step: at step 2 of this solver particle ") == 0);
  SolverSemiImplicit careless(model, {.check_finite = false});
  CHECK(broken(careless) == "no error");
}

TEST_CASE("a state that is broken already is named as such, with the limit where dt is too long") {
  const auto model = spring_pair(1e4, 0.0);
  SolverSemiImplicit solver(model, {.check_stability = false});
  auto a = model->state(), b = model->state();
  a->particle_qd.write<Vec3f>()[1].x = std::numeric_limits<float>::quiet_NaN();
  const std::string said =
      message_of([&] { solver.step(*a, *b, nullptr, nullptr, 0.02f); }, ErrorKind::domain_check);
  CHECK(said.find("SolverSemiImplicit.step: at step 1 of this solver particle ") == 0);
  CHECK(said.find(" of spring 0 ") != std::string::npos);
  CHECK(said.find("dt = 0.02 s is too long for the elements") != std::string::npos);
}

TEST_CASE("a simulation that blows up is told of when speeds are cut off") {
  const auto model = spring_pair(1e4, 0.0);
  SolverSemiImplicit solver(model, {.check_stability = false});
  auto a = model->state(), b = model->state();
  a->particle_q.write<Vec3f>()[1].x = 1.5f;
  const std::string told = warnings_of([&] {
    for (int k = 0; k < 100; ++k) {
      a->clear_forces();
      solver.step(*a, *b, nullptr, nullptr, 0.1f);
      std::swap(a, b);
    }
  });
  CHECK(told.find("SolverSemiImplicit.step: at step ") == 0);
  CHECK(told.find("particle 0 of spring 0 reached particle_max_velocity = 100000 m/s, where speeds are cut off: the "
                  "simulation has blown up.") != std::string::npos);
  CHECK(told.find("SolverSemiImplicit", 10) == std::string::npos);
}

}  // namespace novaphy
