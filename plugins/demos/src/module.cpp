// SPDX-License-Identifier: Apache-2.0
// Registers module `demos`.
#include "novaphy/plugin.hpp"
#include "src/diffsim_ball.hpp"

namespace {

// Made by load and gone with unload, since it holds objects of other modules.
std::unique_ptr<novaphy::demos::DiffsimBall> ball;

void load(novaphy::PluginContext& context) {
  ball = std::make_unique<novaphy::demos::DiffsimBall>();
  context.publish<novaphy::IDemo>("diffsim_ball", ball.get());
}

void unload(novaphy::PluginContext&) {
  ball.reset();
}

}  // namespace

NOVAPHY_PLUGIN(load, unload);
