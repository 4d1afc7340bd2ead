// SPDX-License-Identifier: Apache-2.0
// Registers module acme_verlet: a factory for SolverVerlet.
#include "novaphy/json_options.hpp"
#include "novaphy/plugin.hpp"
#include "solver_verlet.hpp"

namespace {

class Factory final : public novaphy::ISolverFactory {
 public:
  novaphy::SolverTraits traits() const override {
    return {.summary = "free particles by velocity Verlet", .particles = true};
  }
  std::unique_ptr<novaphy::ISolver> create(std::shared_ptr<novaphy::Model> model, std::string_view config_json) override {
    novaphy::JsonOptions(config_json, "SolverVerlet").finish();  // it has none
    return std::make_unique<acme::SolverVerlet>(std::move(model));
  }
};

void load(novaphy::PluginContext& context) {
  static Factory factory;
  context.publish<novaphy::ISolverFactory>("acme_verlet", &factory);
}

}  // namespace

NOVAPHY_PLUGIN(load);
