// SPDX-License-Identifier: Apache-2.0
// A module that serves the second version of an interface beside its first: one object for each, since both
// have their own functions.
#include "abi/greetings.hpp"
#include "novaphy/plugin.hpp"

namespace {

class Polite final : public novaphy::x::Greeting2 {
 public:
  std::string greet(std::string_view whom) const override { return "good day, " + std::string(whom); }
};

Polite polite;

/// The first version, for those who know no other.
class PoliteToAnybody final : public novaphy::x::Greeting1 {
 public:
  std::string greet() const override { return polite.greet("whoever you are"); }
};

PoliteToAnybody polite_to_anybody;

}  // namespace

static void load(novaphy::PluginContext& context) {
  context.publish<novaphy::x::Greeting2>("polite", &polite);
  context.publish<novaphy::x::Greeting1>("polite", &polite_to_anybody);
}

NOVAPHY_PLUGIN(load);
