// SPDX-License-Identifier: Apache-2.0
// Registers module `camera`. It publishes nothing: C++ links it, Python has its extension.
#include "novaphy/plugin.hpp"

namespace {

void load(novaphy::PluginContext&) {}

}  // namespace

NOVAPHY_PLUGIN(load);
