// SPDX-License-Identifier: Apache-2.0
// Forces of other plugins in a recorded step.
#include "diff/recorded_forces.hpp"

#include "novaphy/api.hpp"
#include "novaphy/error.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::semi_implicit {

namespace {

const nova::Kernel& time_kernel() {
  static const nova::Kernel kernel = nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "advance_time",
       .in = {nova::in("time", nova::Row::f32), nova::in("dt", nova::Row::f32).value()},
       .out = {nova::out("time_out", nova::Row::f32)}},
      [](nova::KernelScope& k) { k.write("time_out", k.f32("time") + k.f32("dt")); });
  return kernel;
}

}  // namespace

RecordedForces::RecordedForces(Model& model, const std::vector<std::string>& names, const char* who)
    : forces_(model, names, who) {
  if (forces_.empty()) return;
  nova_ = &find<INova>("nova");
  for (const GivenForce& given : forces_.all()) {
    const auto bytes = given.force->program();
    NOVAPHY_REQUIRE(
        !bytes.empty(), ErrorKind::unsupported_feature, who, ": force '", given.name, "' of plugin '",
        given.plugin,
        "' brings no program, so it has no gradient; step with SolverSemiImplicit, or have the plugin "
        "publish a nova::FormulaForce");
    try {
      programs_.push_back(nova_->compile(bytes));
    } catch (const Error& error) {
      throw Error(error.kind(),
                  text(who, ": force '", given.name, "' of plugin '", given.plugin, "': ", error.what()));
    }
  }
}

void RecordedForces::add_to(const DeviceArray& total, const Model& model, const SimState& state) const {
  std::vector<DeviceArray> arrays;
  std::vector<LaunchOperand> inputs;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const GivenForce& given = forces_.all()[i];
    arrays.clear(), inputs.clear();
    for (std::size_t k = 0; k < given.inputs.size(); ++k) arrays.push_back(given.array(k, model, state));
    inputs.assign(arrays.begin(), arrays.end());
    if (given.corners != nullptr) inputs.emplace_back(*given.corners);
    const LaunchOperand outputs[] = {total};
    nova_->launch(programs_[i], {.inputs = inputs, .outputs = outputs, .rows = given.rows(model)});
  }
}

void RecordedForces::carry_over(const SimState& state_in, SimState& state_out, float dt) const {
  for (const std::string& name : forces_.state_arrays()) {
    const DeviceArray& from = *state_in.find(name);
    DeviceArray& to = *state_out.find(name);
    if (name == kTimeArray)
      nova::launch(time_kernel(), {from, dt}, {to}, 1);
    else if (&from != &to)
      nova::assign(to, nova::Tensor(from));
  }
}

}  // namespace novaphy::semi_implicit
