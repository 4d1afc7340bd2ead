// SPDX-License-Identifier: Apache-2.0
// The forward solver's generated kernels: they are there, and its steps are those of a recording and of the
// formula.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "messages.hpp"
#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/task_pool.hpp"
#include "scenes.hpp"
#include "src/element_forces.hpp"
#include "src/integration.hpp"

using namespace novaphy;
using test::same_bits;

namespace {

/// Particles over a floor in three worlds with a gravity each, and some of no world.
std::shared_ptr<Model> scene_of_worlds() {
  test::Random random(8);
  ModelBuilder one, builder;
  for (int p = 0; p < 400; ++p)
    one.add_particle(random.in_box(0.3f), random.in_box(2.0f), p % 31 == 4 ? 0.0 : random.between(0.5f, 2.0f),
                     0.1f, p % 29 == 3 ? 0 : ParticleFlags::ACTIVE);
  one.add_ground_plane();
  for (int p = 0; p < 100; ++p) builder.add_particle(random.in_box(0.3f), random.in_box(2.0f), 1.0, 0.1f);
  builder.replicate(one, 3);
  const auto model = builder.finalize();
  for (int world = 0; world < 3; ++world) model->set_gravity(random.in_box(10.0f), world);
  return model;
}

/// What the formula makes of a state whose particle_f holds the total force.
std::shared_ptr<SimState> step_of_formula(const Model& model, const SimState& state, float dt) {
  auto next = model.state();
  const semi_implicit::IntegrationRows rows{.q = state.particle_q.read<Vec3f>(),
                                            .qd = state.particle_qd.read<Vec3f>(),
                                            .f = state.particle_f.read<Vec3f>(),
                                            .flags = model.particle_flags.read<std::int32_t>(),
                                            .inv_mass = model.particle_inv_mass.read<float>(),
                                            .gravity = model.gravity.read<Vec3f>(),
                                            .world = model.particle_world.read<std::int32_t>(),
                                            .max_velocity = model.particle_max_velocity,
                                            .dt = dt,
                                            .q_out = next->particle_q.write<Vec3f>(),
                                            .qd_out = next->particle_qd.write<Vec3f>()};
  semi_implicit::integrate_by_formula(rows, 0, model.particle_count);
  return next;
}

/// A deformed soft block, a cloth in the wind and springs among their particles, each element with a material
/// and an activation of its own; some springs and edges lack a particle.
std::shared_ptr<Model> scene_of_elements() {
  test::Random random(31);
  ModelBuilder builder;
  builder.add_soft_grid({.pos = {0, 0, 0.5f},
                         .dim_x = 5,
                         .dim_y = 4,
                         .dim_z = 3,
                         .cell_x = 0.1,
                         .cell_y = 0.1,
                         .cell_z = 0.1,
                         .density = 100});
  builder.add_cloth_grid(
      {.pos = {0, 0, 1}, .dim_x = 9, .dim_y = 8, .cell_x = 0.1, .cell_y = 0.1, .mass = 0.1});
  for (int s = 0; s < 100; ++s) builder.add_spring(s, s + 37, 10.0, 0.1, 0.0);
  builder.add_ground_plane();
  const auto model = builder.finalize();
  const auto fill = [&](DeviceArray& array, float low, float high) {
    for (float& value : array.write<float>()) value = random.between(low, high);
  };
  fill(model->particle_tri_material, 10.0f, 200.0f), fill(model->particle_tet_material, 10.0f, 2000.0f);
  fill(model->edge_bending_properties, 0.0f, 20.0f), fill(model->edge_rest_angle, -1.0f, 1.0f);
  fill(model->particle_tri_activation, -0.2f, 0.2f), fill(model->particle_tet_activation, -0.2f, 0.2f);
  fill(model->spring_damping, 0.0f, 0.5f);
  for (Vec3f& x : model->particle_q.write<Vec3f>()) x = x + random.in_box(0.02f);
  for (Vec3f& v : model->particle_qd.write<Vec3f>()) v = random.in_box(1.0f);
  model->spring_indices.write<std::int32_t>()[7] = -1;
  model->edge_indices.write<std::int32_t>()[40] = -1;
  return model;
}

void check_steps(const std::shared_ptr<Model>& model, std::int64_t grain) {
  constexpr float kStep = 1.0f / 480.0f;
  SolverSemiImplicit solver(model);
  solver.set_grain(grain);
  DiffSemiImplicitSolver recorded(model);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 0.01f});
  const auto contacts = pipeline.contacts();
  auto now = model->state();
  for (int t = 0; t < 10; ++t) {
    pipeline.collide(*now, *contacts);
    now->clear_forces();
    const auto next = model->state(), start = model->state(), end = model->state();
    start->assign(*now);
    solver.step(*now, *next, nullptr, contacts.get(), kStep);
    nova::Tape tape;
    {
      const nova::TapeScope recording(tape);
      recorded.step(*start, *end, nullptr, contacts.get(), kStep);
    }
    const auto expected = step_of_formula(*model, *now, kStep);
    REQUIRE(same_bits(start->particle_f, now->particle_f));
    for (const auto& other : {end, expected}) {
      REQUIRE(same_bits(next->particle_q, other->particle_q));
      REQUIRE(same_bits(next->particle_qd, other->particle_qd));
    }
    now = next;
  }
}

}  // namespace

TEST_CASE("a build with Nova's generator has the forward kernels, a function for each instruction set") {
  for (const char* name :
       {"integrate_in_one_world", "integrate_in_worlds", "springs", "triangles", "bending", "tetrahedra"}) {
    std::vector<RowFunction> functions;
    for (std::size_t sets = 1; sets <= instruction_set_count(); ++sets) {
      const RowFunction function = find_row_function(semi_implicit_rows(), name, sets);
      CHECK((function != nullptr));
      for (const RowFunction other : functions) CHECK((function != other));
      functions.push_back(function);
    }
  }
  CHECK((find_row_function(semi_implicit_rows(), "a kernel that nobody made") == nullptr));
}

TEST_CASE("forward step, recorded step and formula give the same bits on 1, 2 and 7 threads") {
  const int threads_before = task_pool().thread_count();
  for (const auto& model : {test::crowded_model(1500), scene_of_worlds(), scene_of_elements()})
    for (const int threads : {1, 2, 7}) {
      task_pool().set_thread_count(threads);
      for (const std::int64_t grain : {5, 64, 512}) check_steps(model, grain);
    }
  task_pool().set_thread_count(threads_before);
}

TEST_CASE("forces of elements are the same bits by formula, with every instruction set and at any grain") {
  const auto model = scene_of_elements();
  const auto state = model->state();
  const auto kinds =
      semi_implicit::element_rows(*model, *state, semi_implicit::activations_of("test", *model, nullptr));
  REQUIRE(kinds.size() == 4);
  const std::vector<Vec3f> start(static_cast<std::size_t>(model->particle_count));
  std::vector<Vec3f> buffer;
  for (const auto& kind : kinds) {
    CAPTURE(kind.kernel);
    std::vector<Vec3f> expected = start;
    semi_implicit::add_element_forces(kind, expected, 1000000, buffer, 0);
    for (std::size_t sets = 1; sets <= instruction_set_count(); ++sets)
      for (const std::int64_t grain : {5, 64, 1000000}) {
        std::vector<Vec3f> got = start;
        semi_implicit::add_element_forces(kind, got, grain, buffer, sets);
        CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(Vec3f)) == 0);
      }
  }
}

TEST_CASE("an element without one of its particles has no force") {
  ModelBuilder builder;
  for (int p = 0; p < 9; ++p) builder.add_particle({0.1f * static_cast<float>(p), 0, 0}, {0, 0, 0}, 1.0);
  for (int s = 0; s < 8; ++s) builder.add_spring(s, s + 1, 100.0, 0.0, 0.0);
  const auto model = builder.finalize();
  for (float& length : model->spring_rest_length.write<float>()) length = 0.05f;
  for (int s = 1; s < 8; ++s)
    model->spring_indices.write<std::int32_t>()[static_cast<std::size_t>(2 * s)] = -1;
  const auto in = model->state(), out = model->state();
  SolverSemiImplicit(model).step(*in, *out, nullptr, nullptr, 0.01f);
  const auto force = in->particle_f.read<Vec3f>();
  CHECK(force[0].x == doctest::Approx(5.0f));
  CHECK(force[1].x == doctest::Approx(-5.0f));
  for (std::size_t p = 2; p < 9; ++p) CHECK(force[p].x == 0.0f);
}
