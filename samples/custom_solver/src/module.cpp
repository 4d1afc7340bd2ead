// SPDX-License-Identifier: Apache-2.0
// Registers module acme_pbd: a factory for SolverPBD.
#include "acme_pbd/solver_pbd.hpp"
#include "novaphy/plugin.hpp"

namespace acme {

namespace {

PbdConfig& defaults() {
  static PbdConfig config;
  return config;
}

class Factory final : public novaphy::ISolverFactory {
 public:
  novaphy::SolverTraits traits() const override {
    return {.summary = "position-based particles whose springs are distance constraints", .particles = true};
  }
  std::unique_ptr<novaphy::ISolver> create(std::shared_ptr<novaphy::Model> model, std::string_view config_json) override {
    return std::make_unique<SolverPBD>(std::move(model), read_config(config_json, configured()));
  }
};

void load(novaphy::PluginContext& context) {
  defaults() = read_config(context.config_json(), PbdConfig{});
  static Factory factory;
  context.publish<novaphy::ISolverFactory>("acme_pbd", &factory);
}

}  // namespace

const PbdConfig& configured() {
  return defaults();
}

}  // namespace acme

NOVAPHY_PLUGIN(acme::load);
