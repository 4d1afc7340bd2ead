// SPDX-License-Identifier: Apache-2.0
// Registration of module `nova`. Others link the library; it publishes no interface yet.
#include "novaphy/plugin.hpp"

static void load(novaphy::PluginContext&) {}

NOVAPHY_PLUGIN(load);
