// SPDX-License-Identifier: Apache-2.0
// Registration of module `nova`. Bundled modules link the library; others hand over programs as bytes.
#include "nova/kernel/byte_programs.hpp"
#include "novaphy/plugin.hpp"

static void load(novaphy::PluginContext& context) {
  static nova::BytePrograms programs;
  context.publish<novaphy::INova>("nova", &programs);
}

NOVAPHY_PLUGIN(load);
