// SPDX-License-Identifier: Apache-2.0
// Tests of plugin @name@, without a framework: each line on stderr is a failure.
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "@name@/formula/drag.h"
#include "@name@/options.hpp"
@if solver@
#include "@name@/solver_@name@.hpp"
#include "novaphy/builder.hpp"
@end@
@if force@
#include "src/drag_force.hpp"
@end@
#include "novaphy/error.hpp"

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

void drag_acts_against_the_velocity() {
  const novaphy::Vec3f a = @name@::formula::drag_acceleration(novaphy::Vec3f{2.0f, 0.0f, -4.0f}, 0.5f);
  expect(a.x == -1.0f && a.y == 0.0f && a.z == 2.0f, "drag is minus the rate times the velocity");
}

void wrong_options_are_refused() {
  std::string message;
  try {
    @name@::read_options(R"({"drag": -1})");
  } catch (const novaphy::Error& error) {
    message = error.what();
  }
  expect(message == "@name@: drag is -1; give a rate of at least 0, in 1/s", "a negative drag is named with its value");
}
@if solver@

void a_falling_particle_reaches_its_final_speed() {
  novaphy::ModelBuilder builder;
  builder.add_particle({0.0f, 0.0f, 1000.0f}, {0.0f, 0.0f, 0.0f}, 1.0);
  const auto model = builder.finalize();
  @name@::Solver@Name@ solver(model, {.drag = 2.0f});
  const auto state = model->state();
  for (int i = 0; i < 1000; ++i) {
    state->clear_forces();
    solver.step(*state, *state, nullptr, nullptr, 0.01f);
  }
  const float speed = state->particle_qd.read<novaphy::Vec3f>()[0].z;
  expect(std::fabs(speed + 9.81f / 2.0f) < 1e-4f, "the final speed is gravity over drag");
}
@end@
@if force@

void the_force_of_a_row_is_mass_times_the_formula() {
  const nova::FormulaForce<@name@::DragForce> force("@name@_drag");
  const novaphy::Vec3f velocity{1.0f, -2.0f, 0.0f};
  const float mass = 3.0f, rate = 0.5f;
  const novaphy::ForceInputRows inputs[] = {{&velocity, 3}, {&mass, 1}, {&rate, 1, novaphy::ForceReach::uniform}};
  float out[3] = {};
  force.evaluate({.begin = 0, .end = 1, .inputs = inputs, .out = out});
  expect(out[0] == -1.5f && out[1] == 3.0f && out[2] == 0.0f, "the force is mass times the acceleration");
  expect(!force.program().empty(), "the force has a gradient");
}
@end@

void run_all() {
  drag_acts_against_the_velocity();
  wrong_options_are_refused();
@if solver@
  a_falling_particle_reaches_its_final_speed();
@end@
@if force@
  the_force_of_a_row_is_mass_times_the_formula();
@end@
}

}  // namespace

int main() {
  try {
    run_all();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
