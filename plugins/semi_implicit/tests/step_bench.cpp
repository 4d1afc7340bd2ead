// SPDX-License-Identifier: Apache-2.0
// Nanoseconds a particle and substep of SolverSemiImplicit, in flight and among contacts, on one thread.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/task_pool.hpp"
#include "scenes.hpp"

namespace {

using namespace novaphy;

// CPU time: other programs on the machine don't count.
double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double nanoseconds(const std::shared_ptr<Model>& model, bool touching, float margin) {
  CollisionPipeline pipeline(model, {.soft_contact_margin = margin});
  const auto contacts = pipeline.contacts();
  const auto in = model->state(), out = model->state();
  pipeline.collide(*in, *contacts);
  SolverSemiImplicit solver(model);
  const int repeat = std::max(1, 500'000 / model->particle_count);
  std::vector<double> runs;
  for (int run = 0; run < 15; ++run) {
    const double start = seconds();
    for (int i = 0; i < repeat; ++i)
      solver.step(*in, *out, nullptr, touching ? contacts.get() : nullptr, 1.0f / 480.0f);
    runs.push_back((seconds() - start) / repeat);
  }
  return *std::min_element(runs.begin(), runs.end()) / model->particle_count * 1e9;
}

}  // namespace

int main() {
  task_pool().set_thread_count(1);
  const auto ball = test::ball_model();
  std::printf("the ball: %.1f in flight, %.1f with contacts\n", nanoseconds(ball, false, 10.0f),
              nanoseconds(ball, true, 10.0f));
  for (const int particles : {1'000, 100'000}) {
    const auto crowd = test::crowded_model(particles);
    std::printf("%d particles: %.2f in flight, %.2f with contacts\n", particles,
                nanoseconds(crowd, false, 0.01f), nanoseconds(crowd, true, 0.01f));
  }
}
