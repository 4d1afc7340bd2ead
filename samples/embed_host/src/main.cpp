// SPDX-License-Identifier: Apache-2.0
// The runtime inside a program of its own: `embed_host [SOLVER] [OPTIONS]` lets four particles fall.
//
// SOLVER is the name of an ISolverFactory (default semi_implicit), OPTIONS its options as a JSON object. Exit codes:
// 0 done, 1 something went wrong, 3 the solver or what it needs is not there.
#include <cstdio>
#include <memory>
#include <string>

#include "novaphy/builder.hpp"
#include "novaphy/collision.hpp"
#include "novaphy/runtime.hpp"
#include "novaphy/solver.hpp"

namespace {

constexpr int kSteps = 240;
constexpr float kTimeStep = 1.0f / 240.0f;  // s

/// Four particles, 1 m above the ground.
std::shared_ptr<novaphy::Model> make_model() {
  novaphy::ModelBuilder builder;
  for (int i = 0; i < 4; ++i) builder.add_particle({0.5f * static_cast<float>(i), 0.0f, 1.0f}, {0.0f, 0.0f, 0.0f}, 1.0);
  builder.add_ground_plane();
  return builder.finalize();
}

void list_solvers() {
  for (const novaphy::ProvidedInterface& item : novaphy::list<novaphy::ISolverFactory>())
    std::printf("solver %s: %s%s%s\n", item.name.c_str(), item.summary.c_str(),
                item.can_load ? "" : "; cannot load: ", item.reason.c_str());
}

/// Steps with `solver`, and with contacts where there is a collision pipeline and the solver takes them.
void simulate(const std::string& solver_name, const std::string& options) {
  const auto model = make_model();
  const auto solver = novaphy::find<novaphy::ISolverFactory>(solver_name).create(model, options);

  std::unique_ptr<novaphy::ICollisionPipeline> pipeline;
  std::shared_ptr<novaphy::Contacts> contacts;
  auto* const collision = novaphy::find_optional<novaphy::ICollisionPipelineFactory>("collision");
  if (collision != nullptr) {
    pipeline = collision->create(model, {});
    contacts = pipeline->contacts();
  }

  auto state = model->state(), next = model->state();
  for (int i = 0; i < kSteps; ++i) {
    state->clear_forces();
    if (pipeline) pipeline->collide(*state, *contacts);
    solver->step(*state, *next, nullptr, contacts.get(), kTimeStep);
    std::swap(state, next);
  }
  const novaphy::Vec3f position = state->particle_q.read<novaphy::Vec3f>()[0];
  std::printf("%s: after %d steps particle 0 is %.3f m above the ground\n", solver->name(), kSteps,
              static_cast<double>(position.z));
}

int run(const std::string& solver, const std::string& options) {
  try {
    list_solvers();
    simulate(solver, options);  // what it made is gone when it returns: nothing may outlive the runtime
    return 0;
  } catch (const novaphy::Error& error) {
    std::fprintf(stderr, "embed_host: %s\n", error.what());
    return error.kind() == novaphy::ErrorKind::plugin_not_available ? 3 : 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  novaphy::RuntimeOptions options;
  options.source = "embed_host";  // what messages call these options; paths, disable, config_file .. would stand here
  novaphy::Runtime::start(options);
  std::printf("NovaPhy %s\n", novaphy::Runtime::version().c_str());

  const int code = run(argc > 1 ? argv[1] : "semi_implicit", argc > 2 ? argv[2] : "");
  novaphy::Runtime::shutdown();
  return code;
}
