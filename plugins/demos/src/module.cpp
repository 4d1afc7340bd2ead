// SPDX-License-Identifier: Apache-2.0
// Registers module `demos`.
#include "novaphy/plugin.hpp"
#include "src/diffsim_ball.hpp"
#include "src/diffsim_soft_body.hpp"

namespace {

// Made by load and gone with unload, since they hold objects of other modules.
struct Demos {
  novaphy::demos::DiffsimBall ball;
  novaphy::demos::DiffsimSoftBody soft_body;
};
std::unique_ptr<Demos> demos;

void load(novaphy::PluginContext& context) {
  demos = std::make_unique<Demos>();
  context.publish<novaphy::IDemo>("diffsim_ball", &demos->ball);
  context.publish<novaphy::IDemo>("diffsim_soft_body", &demos->soft_body);
}

void unload(novaphy::PluginContext&) {
  demos.reset();
}

}  // namespace

NOVAPHY_PLUGIN(load, unload);
