// SPDX-License-Identifier: Apache-2.0
// Registers module `collision_diff`. It publishes nothing: other modules link it.
#include "novaphy/plugin.hpp"

namespace {

void load(novaphy::PluginContext&) {}

}  // namespace

NOVAPHY_PLUGIN(load);
