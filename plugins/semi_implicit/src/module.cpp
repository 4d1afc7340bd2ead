// SPDX-License-Identifier: Apache-2.0
// Registers module `semi_implicit`.
#include "novaphy/json_options.hpp"
#include "novaphy/plugin.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"

namespace {

using namespace novaphy;

SemiImplicitConfig config_from(std::string_view json) {
  SemiImplicitConfig config;
  JsonOptions options(json, "semi_implicit");
  options.read("angular_damping", config.angular_damping);
  options.read("friction_smoothing", config.friction_smoothing);
  options.read("friction_law", config.friction_law);
  options.read("joint_attach_ke", config.joint_attach_ke);
  options.read("joint_attach_kd", config.joint_attach_kd);
  options.read("enable_tri_contact", config.enable_tri_contact);
  options.read("forces", config.forces);
  options.finish();
  return config;
}

class Factory final : public ISolverFactory {
 public:
  SolverTraits traits() const override {
    return {.summary = "semi-implicit Euler for particles", .particles = true};
  }
  std::unique_ptr<ISolver> create(std::shared_ptr<Model> model, std::string_view config_json) override {
    return std::make_unique<SolverSemiImplicit>(std::move(model), config_from(config_json));
  }
};

void load(PluginContext& context) {
  static Factory factory;
  context.publish<ISolverFactory>("semi_implicit", &factory);
}

}  // namespace

NOVAPHY_PLUGIN(load);
