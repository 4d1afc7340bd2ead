// SPDX-License-Identifier: Apache-2.0
// Registers module `semi_implicit`.
#include "novaphy/plugin.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "src/config_json.hpp"

namespace {

class Factory final : public novaphy::ISolverFactory {
 public:
  novaphy::SolverTraits traits() const override {
    return {.summary = "semi-implicit Euler for particles", .particles = true};
  }
  std::unique_ptr<novaphy::ISolver> create(std::shared_ptr<novaphy::Model> model, std::string_view config_json) override {
    return std::make_unique<novaphy::SolverSemiImplicit>(std::move(model),
                                                         novaphy::semi_implicit::config_from_json(config_json));
  }
};

void load(novaphy::PluginContext& context) {
  static Factory factory;
  context.publish<novaphy::ISolverFactory>("semi_implicit", &factory);
}

}  // namespace

NOVAPHY_PLUGIN(load);
