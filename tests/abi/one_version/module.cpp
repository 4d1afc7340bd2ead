// SPDX-License-Identifier: Apache-2.0
// A module from before the second version of the interface.
#include "abi/greetings.hpp"
#include "novaphy/plugin.hpp"

namespace {

class Polite final : public novaphy::x::Greeting1 {
 public:
  std::string greet() const override { return "good day"; }
};

Polite polite;

}  // namespace

static void load(novaphy::PluginContext& context) {
  context.publish<novaphy::x::Greeting1>("polite", &polite);
}

NOVAPHY_PLUGIN(load);
