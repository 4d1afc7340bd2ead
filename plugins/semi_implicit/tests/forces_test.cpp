// SPDX-License-Identifier: Apache-2.0
// Forces of other plugins in both solvers: equal bits, gradients, what is refused. The forces are those of
// the fixture plugin `forces`.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "messages.hpp"
#include "novaphy/api.hpp"
#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/rollout.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor_views.hpp"
#include "novaphy/runtime.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/task_pool.hpp"
#include "scenes.hpp"

using namespace novaphy;
using test::message_of;
using test::same_bits;

namespace {

struct WithForces {
  WithForces() {
    RuntimeOptions options;
    options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/forces",
                     std::string(NOVAPHY_BUILD_DIR) + "/lib/novaphy/plugins"};
    Runtime::start(options);
  }
  ~WithForces() { Runtime::shutdown(); }
};

constexpr float kStep = 0.01f;

/// Particles among shapes, tied to their neighbours.
std::shared_ptr<Model> tied_model(int particles) {
  test::Random random(3);
  ModelBuilder builder;
  for (int p = 0; p < particles; ++p)
    builder.add_particle(random.in_box(1.0f), random.in_box(2.0f), random.between(0.5f, 2.0f), 0.05, 1);
  for (int p = 0; p + 3 < particles; p += 2) builder.add_spring(p, p + 3, 40.0, 0.0, 0.0);
  builder.add_ground_plane(-0.5);
  return builder.finalize();
}

std::vector<std::shared_ptr<SimState>> states_of(const Model& model, std::size_t count) {
  std::vector<std::shared_ptr<SimState>> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(model.state());
  return out;
}

/// The final state of a few steps of SolverSemiImplicit with contacts.
std::shared_ptr<SimState> stepped(int threads, std::int64_t grain) {
  const int before = task_pool().thread_count();
  task_pool().set_thread_count(threads);
  const auto model = tied_model(300);
  SolverSemiImplicit solver(model, {.forces = {"tether", "gust"}});
  solver.set_grain(grain);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 0.05f});
  const auto contacts = pipeline.contacts();
  auto now = model->state(), next = model->state();
  for (int t = 0; t < 5; ++t) {
    pipeline.collide(*now, *contacts);
    solver.step(*now, *next, nullptr, contacts.get(), kStep);
    std::swap(now, next);
    next->clear_forces();
  }
  task_pool().set_thread_count(before);
  return now;
}

/// The rows of a force on particles.
std::vector<Vec3f> evaluated(const std::string& name, const Model& model, const SimState& state) {
  const IForce& force = find<IForce>(name);
  std::vector<Vec3f> rows(static_cast<std::size_t>(model.particle_count));
  std::vector<ForceInputRows> inputs;
  for (const ForceInput& input : inputs_of(force.describe())) {
    const ArraySet& owner = input.owner == ArrayOwner::state ? static_cast<const ArraySet&>(state) : model;
    inputs.push_back({owner.find(input.info.name)->storage()->data(), input.info.width, input.reach});
  }
  force.evaluate({.begin = 0, .end = model.particle_count, .inputs = inputs, .out = &rows[0].x});
  return rows;
}

}  // namespace

TEST_CASE("both solvers give the same bits with forces of other plugins on particles and elements") {
  const WithForces running;
  const auto model = tied_model(300);
  SolverSemiImplicit plain(model, {.forces = {"gust", "tether"}});
  DiffSolverConfig config;
  config.forces = {"gust", "tether"};
  DiffSemiImplicitSolver recorded(model, config);
  CollisionPipeline pipeline(model, {.soft_contact_margin = 0.05f});
  const auto contacts = pipeline.contacts();
  std::shared_ptr<SimState> now[2] = {model->state(), model->state()},
                            next[2] = {model->state(), model->state()};
  for (int t = 0; t < 20; ++t) {
    pipeline.collide(*now[0], *contacts);
    const Contacts* const given = t % 3 == 2 ? nullptr : contacts.get();
    plain.step(*now[0], *next[0], nullptr, given, kStep);
    recorded.step(*now[1], *next[1], nullptr, given, kStep);
    REQUIRE(same_bits(now[1]->particle_f, now[0]->particle_f));
    REQUIRE(same_bits(next[1]->particle_q, next[0]->particle_q));
    REQUIRE(same_bits(next[1]->particle_qd, next[0]->particle_qd));
    REQUIRE(same_bits(*next[1]->find("time"), *next[0]->find("time")));
    REQUIRE(same_bits(*next[1]->find("gust_heat"), *next[0]->find("gust_heat")));
    for (int i = 0; i < 2; ++i) std::swap(now[i], next[i]), next[i]->clear_forces();
  }
  CHECK(now[0]->find("time")->read<float>()[0] == doctest::Approx(0.2));
}

TEST_CASE("the sum of forces depends neither on threads nor on the rows of a task") {
  const WithForces running;
  const auto one = stepped(1, 100000);
  for (const int threads : {1, 3, 7})
    for (const std::int64_t grain : {1, 17, 200}) {
      const auto many = stepped(threads, grain);
      CHECK(same_bits(one->particle_q, many->particle_q));
      CHECK(same_bits(one->particle_qd, many->particle_qd));
    }
}

TEST_CASE("forces are added in the given order, after the external force") {
  const WithForces running;
  for (const bool gust_first : {true, false}) {
    const auto model = tied_model(8);
    for (float& stiffness : model->spring_stiffness.write<float>()) stiffness = 0.0f;
    std::vector<std::string> names{"gust", "unrecorded"};
    if (!gust_first) std::swap(names[0], names[1]);
    SolverSemiImplicit solver(model, {.forces = {names[0], names[1], "tether"}});
    const auto in = model->state(), out = model->state();
    const auto external = in->particle_f.write<Vec3f>();
    for (std::size_t p = 0; p < external.size(); ++p)
      external[p] = {0.1f * static_cast<float>(p), 1e-3f, -7.0f};
    std::vector<Vec3f> wanted(external.begin(), external.end());
    for (const std::string& name : names) {
      const std::vector<Vec3f> added = evaluated(name, *model, *in);
      for (std::size_t p = 0; p < wanted.size(); ++p) wanted[p] = wanted[p] + added[p];
    }
    solver.step(*in, *out, nullptr, nullptr, kStep);
    const auto total = in->particle_f.read<Vec3f>();
    CHECK(std::ranges::equal(total, wanted, [](const Vec3f& a, const Vec3f& b) {
      return a.x == b.x && a.y == b.y && a.z == b.z;
    }));
  }
}

TEST_CASE(
    "gradients reach the parameters, the state arrays and the start state of a force, through many steps") {
  const WithForces running;
  const auto model = tied_model(1);
  DiffSolverConfig config;
  config.forces = {"gust"};
  DiffSemiImplicitSolver solver(model, config);
  const int steps = 40;
  const auto states = states_of(*model, steps + 1);
  // without drag and far from where x matters the motion is a sum over time
  nova::Tensor strength(*model->find("gust_strength")), heat(*states[0]->find("gust_heat"));
  states[0]->find("gust_heat")->write<float>()[0] = 0.0f;
  for (Vec3f& x : states[0]->particle_q.write<Vec3f>()) x = {0.0f, 0.0f, 5.0f};
  for (Vec3f& v : states[0]->particle_qd.write<Vec3f>()) v = {0.0f, 0.0f, 0.0f};
  model->find("gust_strength")->write<float>()[0] = 0.0f;
  strength.set_requires_grad(true), heat.set_requires_grad(true);
  nova::Tape tape;
  {
    const nova::TapeScope recording(tape);
    for (int t = 0; t < steps; ++t)
      solver.step(*states[static_cast<std::size_t>(t)], *states[static_cast<std::size_t>(t) + 1], nullptr,
                  nullptr, kStep);
  }
  const nova::Tensor end(states.back()->particle_q);
  const std::vector<float> seed{0.0f, 1.0f, 0.0f};
  tape.backward(end, nova::Tensor::from<float>(seed, {1, 3}));
  double mass = model->particle_mass.read<float>()[0], inverse = model->particle_inv_mass.read<float>()[0];
  double by_strength = 0, by_heat = 0, y = 0, v = 0;
  const double dt = kStep;
  for (int t = 0; t < steps; ++t) {
    const double left = dt * dt * (steps - t), wave = std::sin(3 * dt * t);
    by_strength += left * inverse * mass * wave;
    by_heat += left * inverse * v;
    v += dt * inverse * mass * -2.0 * wave;
    y += dt * v;
  }
  CHECK(states.back()->particle_q.read<Vec3f>()[0].y == doctest::Approx(y).epsilon(1e-5));
  CHECK(strength.grad()->array().read<float>()[1] == doctest::Approx(by_strength).epsilon(1e-5));
  CHECK(heat.grad()->array().read<float>()[0] == doctest::Approx(by_heat).epsilon(1e-5));
}

TEST_CASE("the gradient of a force on elements agrees with differences of the forward step") {
  const WithForces running;
  const auto model = tied_model(12);
  DiffSolverConfig config;
  config.forces = {"tether"};
  DiffSemiImplicitSolver solver(model, config);
  const auto states = states_of(*model, 4);
  nova::Tensor stiffness(model->spring_stiffness), radius(model->particle_radius);
  stiffness.set_requires_grad(true), radius.set_requires_grad(true);
  const auto roll = [&] {
    for (std::size_t t = 0; t + 1 < states.size(); ++t) {
      states[t]->clear_forces();
      solver.step(*states[t], *states[t + 1], nullptr, nullptr, 0.05f);
    }
    double sum = 0;
    for (const Vec3f& x : states.back()->particle_q.read<Vec3f>()) sum += double{x.x} + x.y - 2.0 * x.z;
    return sum;
  };
  nova::Tape tape;
  {
    const nova::TapeScope recording(tape);
    for (std::size_t t = 0; t + 1 < states.size(); ++t)
      solver.step(*states[t], *states[t + 1], nullptr, nullptr, 0.05f);
  }
  std::vector<float> seed;
  for (int p = 0; p < 12; ++p) seed.insert(seed.end(), {1.0f, 1.0f, -2.0f});
  tape.backward(nova::Tensor(states.back()->particle_q), nova::Tensor::from<float>(seed, {12, 3}));
  const auto compare = [&](DeviceArray& array, const nova::Tensor& tensor, std::size_t row, float eps) {
    const float found = tensor.grad()->array().read<float>()[row];
    const float middle = array.read<float>()[row];
    array.write<float>()[row] = middle + eps;
    const double up = roll();
    array.write<float>()[row] = middle - eps;
    const double down = roll();
    array.write<float>()[row] = middle;
    const double wanted = (up - down) / (2.0 * eps);
    CHECK(found == doctest::Approx(wanted).epsilon(2e-2));
    CHECK(std::fabs(wanted) > 1e-5);
  };
  for (const std::size_t spring : {0u, 2u, 4u}) compare(model->spring_stiffness, stiffness, spring, 4.0f);
  for (const std::size_t particle : {0u, 3u}) compare(model->particle_radius, radius, particle, 0.05f);
}

TEST_CASE(
    "a rollout within a budget gives the bits of one tape, with time and arrays of forces carried along") {
  const WithForces running;
  std::vector<std::vector<float>> found;
  for (const std::size_t budget : {std::size_t{0}, std::size_t{60000}}) {
    const auto model = tied_model(50);
    DiffSolverConfig config;
    config.forces = {"gust", "tether"};
    DiffSemiImplicitSolver solver(model, config);
    nova::Tensor strength(*model->find("gust_strength"));
    strength.set_requires_grad(true);
    nova::RolloutCallbacks callbacks;
    callbacks.step = [&](std::size_t, const nova::RolloutState& in, const nova::RolloutState& out) {
      in->clear_forces();
      solver.step(*in, *out, nullptr, nullptr, kStep);
    };
    callbacks.losses = [&](std::size_t step, const nova::RolloutState& state) {
      std::vector<nova::Tensor> losses;
      if (step == 30)
        losses.push_back(nova::particle_point_loss_generated(nova::Tensor(state->particle_q), 4, 1, 2, 3));
      return losses;
    };
    nova::Rollout rollout(model, 30, callbacks, budget);
    const auto start = model->state(true);
    const float loss = rollout.roll(start)->item();
    CHECK(rollout.plan().stores_all() == (budget == 0));
    rollout.backward();
    const auto gradient = strength.grad()->array().read<float>();
    const auto of_start = nova::Tensor(start->particle_q).grad()->array().read<float>();
    found.push_back({gradient.begin(), gradient.end()});
    found.back().insert(found.back().end(), of_start.begin(), of_start.end());
    found.back().push_back(loss);
  }
  CHECK(found[0] == found[1]);
}

TEST_CASE("a step in place carries time on") {
  const WithForces running;
  const auto model = tied_model(4);
  SolverSemiImplicit solver(model, {.forces = {"gust", "tether"}});
  const auto state = model->state();
  for (int t = 0; t < 3; ++t) solver.step(*state, *state, nullptr, nullptr, 0.5f);
  CHECK(state->find("time")->read<float>()[0] == 1.5f);
}

TEST_CASE("parameters that the model has already are kept") {
  const WithForces running;
  const auto model = tied_model(4);
  model->add_custom_array(
      {{"gust_strength", DType::f32, Frequency::once, 3, "mine"}, ArrayOwner::model, {7, 8, 9}});
  const SolverSemiImplicit solver(model, {.forces = {"gust", "tether"}});
  CHECK(model->find("gust_strength")->read<float>()[1] == 8.0f);
}

TEST_CASE("what cannot be a force of a solver is refused by name") {
  const WithForces running;
  const auto model = tied_model(4);
  const auto plain = [&](std::vector<std::string> names) {
    names.push_back("tether");
    return [&model, names] { SolverSemiImplicit(model, {.forces = names}); };
  };
  const auto recorded = [&](std::vector<std::string> names) {
    DiffSolverConfig config;
    config.forces = std::move(names);
    config.forces.push_back("tether");
    return [&model, config] { DiffSemiImplicitSolver(model, config); };
  };
  const std::string unknown = message_of(plain({"gusty"}), ErrorKind::plugin_not_available);
  CHECK(unknown.starts_with(
      "SolverSemiImplicit: forces: no novaphy.x.IForce/1 is named 'gusty'; did you mean 'gust'? "
      "There are: by_world, damaged, gust, misspelt, one_vector, tether, throwing, unrecorded, wider; "
      "searched: "));
  CHECK(message_of(plain({"gust", "gust"}), ErrorKind::value) ==
        "SolverSemiImplicit: force 'gust' is given twice");
  CHECK(message_of(plain({"misspelt"}), ErrorKind::value) ==
        "SolverSemiImplicit: force 'misspelt' of plugin 'forces' describes itself wrongly: force: it reads "
        "'partcle_q', "
        "which is no array of states or models; did you mean 'particle_q'?");
  CHECK(message_of(plain({"by_world"}), ErrorKind::value) ==
        "SolverSemiImplicit: force 'by_world' of plugin 'forces' describes itself wrongly: force: it reads "
        "'gravity', "
        "which has a row for each world; its own rows are particle; give an array with one row for each "
        "particle, or of "
        "frequency once");
  CHECK(message_of(recorded({"unrecorded"}), ErrorKind::unsupported_feature) ==
        "DiffSemiImplicitSolver: force 'unrecorded' of plugin 'forces' brings no program, so it has no "
        "gradient; step "
        "with SolverSemiImplicit, or have the plugin publish a nova::FormulaForce");
  CHECK(message_of(recorded({"damaged"}), ErrorKind::value) ==
        "DiffSemiImplicitSolver: force 'damaged' of plugin 'forces': nova: these bytes are no program: there "
        "are 8, and "
        "a program begins with 104; write them with nova::serialize");
  const auto early = model->state();
  SolverSemiImplicit solver(model, {.forces = {"gust", "tether"}});
  CHECK(message_of([&] { solver.step(*early, *early, nullptr, nullptr, kStep); }, ErrorKind::attribute) ==
        "SolverSemiImplicit.step: state_in has no array 'gust_heat', which a force of this solver keeps in "
        "states; make "
        "states after the solver");
  const auto state = model->state();
  SolverSemiImplicit throwing(model, {.forces = {"throwing", "tether"}});
  CHECK(message_of([&] { throwing.step(*state, *state, nullptr, nullptr, kStep); }, ErrorKind::generic) ==
        "force 'throwing' of plugin 'forces': throwing: there is no air today");
  SolverSemiImplicit wider(model, {.forces = {"wider", "tether"}});
  CHECK(message_of([&] { wider.step(*state, *state, nullptr, nullptr, kStep); }, ErrorKind::shape_mismatch) ==
        "force 'wider' of plugin 'forces': force: input 0 has rows of 1 numbers, 3 are read");
  SolverSemiImplicit one_vector(model, {.forces = {"one_vector", "tether"}});
  CHECK(message_of([&] { one_vector.step(*state, *state, nullptr, nullptr, kStep); },
                   ErrorKind::shape_mismatch) ==
        "force 'one_vector' of plugin 'forces': force: it gives 1 vectors, its rows have 2 corners");
  model->spring_indices.write<std::int32_t>()[1] = 9;
  CHECK(message_of([&] { wider.step(*state, *state, nullptr, nullptr, kStep); }, ErrorKind::index) ==
        "SolverSemiImplicit: spring 0 has particle 9, the model has 4; correct spring_indices");
  model->spring_indices.write<std::int32_t>()[1] = 3;
  const auto other = tied_model(4);
  other->add_custom_array(
      {{"gust_strength", DType::f32, Frequency::particle, 3, ""}, ArrayOwner::model, {0, 0, 0}});
  CHECK(message_of(
            [&] {
              SolverSemiImplicit(other, {.forces = {"gust", "tether"}});
            },
            ErrorKind::value) ==
        "SolverSemiImplicit: force 'gust' of plugin 'forces' wants the array 'gust_strength' with 3 float32 "
        "for each "
        "once, the model has one with 3 float32 for each particle");
}

TEST_CASE("the factories take forces from their options") {
  const WithForces running;
  const auto model = tied_model(4);
  const std::string options = R"({"forces": ["gust", "tether"]})";
  for (const char* name : {"semi_implicit", "semi_implicit_diff"}) {
    const auto solver = find<ISolverFactory>(name).create(model, options);
    const auto state = model->state(), next = model->state();
    solver->step(*state, *next, nullptr, nullptr, kStep);
    CHECK(next->find("time")->read<float>()[0] == kStep);
    CHECK(message_of([&] { (void)find<ISolverFactory>(name).create(model, R"({"forces": "gust"})"); },
                     ErrorKind::value) ==
          std::string(name) + ": option 'forces' must be an array of strings, is \"gust\"");
  }
}
