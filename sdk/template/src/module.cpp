// SPDX-License-Identifier: Apache-2.0
// Registers module @name@.
#include "@name@/options.hpp"
@if solver@
#include "@name@/solver_@name@.hpp"
@end@
@if force@
#include "drag_force.hpp"
@end@
@if demo@
#include "fall.hpp"
@end@
#include "novaphy/plugin.hpp"

namespace {

@if solver@
class Factory final : public novaphy::ISolverFactory {
 public:
  novaphy::SolverTraits traits() const override {
    return {.summary = "particles under gravity, external forces and the drag of air", .particles = true};
  }
  std::unique_ptr<novaphy::ISolver> create(std::shared_ptr<novaphy::Model> model, std::string_view config_json) override {
    return std::make_unique<@name@::Solver@Name@>(std::move(model),
                                                  @name@::read_options(config_json, @name@::configured()));
  }
};

@end@
// what is published is static: it lives longer than the runtime needs it
void load(novaphy::PluginContext& context) {
  @name@::configure(@name@::read_options(context.config_json()));
@if solver@
  static Factory factory;
  context.publish<novaphy::ISolverFactory>("@name@", &factory);
@end@
@if force@
  static nova::FormulaForce<@name@::DragForce> drag("@name@_drag");
  context.publish<novaphy::IForce>("@name@_drag", &drag);
@end@
@if demo@
  static @name@::Fall fall;
  context.publish<novaphy::IDemo>("@name@_fall", &fall);
@end@
  context.log(novaphy::LogLevel::debug, "drag is " + std::to_string(@name@::configured().drag) + " 1/s");
}

}  // namespace

NOVAPHY_PLUGIN(load);
