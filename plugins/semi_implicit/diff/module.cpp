// SPDX-License-Identifier: Apache-2.0
// Registers module `semi_implicit_diff`.
#include "novaphy/json_options.hpp"
#include "novaphy/plugin.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"

namespace {

using namespace novaphy;

DiffSolverConfig config_from(std::string_view json) {
  DiffSolverConfig config;
  JsonOptions options(json, "semi_implicit_diff");
  options.read("angular_damping", config.angular_damping);
  options.read("friction_smoothing", config.friction_smoothing);
  options.read("friction_law", config.friction_law);
  options.read("soft_contact_margin", config.soft_contact_margin);
  options.read("enable_particles", config.enable_particles);
  options.read("enable_tetrahedra", config.enable_tetrahedra);
  options.read("enable_triangles", config.enable_triangles);
  options.read("enable_contacts", config.enable_contacts);
  options.read("enable_rigid", config.enable_rigid);
  options.read("enable_tri_contact", config.enable_tri_contact);
  options.read("strict", config.strict);
  options.read("forces", config.forces);
  options.finish();
  return config;
}

class Factory final : public ISolverFactory {
 public:
  SolverTraits traits() const override {
    return {.summary = "semi-implicit Euler for particles, recorded",
            .particles = true,
            .differentiable = Differentiability::exact};
  }
  std::unique_ptr<ISolver> create(std::shared_ptr<Model> model, std::string_view config_json) override {
    return std::make_unique<DiffSemiImplicitSolver>(std::move(model), config_from(config_json));
  }
};

void load(PluginContext& context) {
  static Factory factory;
  context.publish<ISolverFactory>("semi_implicit_diff", &factory);
}

}  // namespace

NOVAPHY_PLUGIN(load);
