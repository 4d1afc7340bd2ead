// SPDX-License-Identifier: Apache-2.0
// SimState and Control: what changes in every step, what a controller sets.
#include <cmath>

#include "model/array_layout.hpp"

namespace novaphy {
namespace {

/// The position in its array of the first number that is not finite, -1 when there is none.
std::int64_t first_non_finite(std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace

SimState::SimState() = default;
SimState::~SimState() = default;

void SimState::visit(const Visitor& visitor) {
  const ArrayInfo* info = built_in_arrays(ArrayOwner::state).data();
#define X(name, dtype, frequency, width, doc) visitor(*info++, name);
#include "novaphy/state_arrays.inc"
  for (Custom& custom : custom_arrays) visitor(custom.spec.info, custom.array);
}

void SimState::clear_forces() {
  particle_f.zero();
  body_f.zero();
}

void SimState::assign(const SimState& other) {
  if (this == &other) return;
  const auto counterpart = [&](const ArrayInfo& info, const DeviceArray& array) {
    const DeviceArray* source = other.find(info.name);
    NOVAPHY_REQUIRE(source && source->shape() == array.shape() && source->dtype() == array.dtype(),
                    ErrorKind::shape_mismatch, "SimState.assign: '", info.name, "' has shape ",
                    to_string(array.shape()), " here and ",
                    source ? to_string(source->shape()) : "does not exist",
                    " in the other state: want two states of one model");
    return source;
  };
  visit(
      [&](const ArrayInfo& info, const DeviceArray& array) { counterpart(info, array); });  // all before any
  visit([&](const ArrayInfo& info, DeviceArray& array) { array.copy_from(*counterpart(info, array)); });
}

std::shared_ptr<SimState> SimState::clone() const {
  auto out = std::make_shared<SimState>();
  out->states_made_ = states_made_;
  out->index = states_made_ ? (*states_made_)++ : index;
  out->requires_grad = requires_grad;
#define X(array, dtype, frequency, width, doc) out->array = array.clone().named(#array, "state", out->index);
#include "novaphy/state_arrays.inc"
  out->custom_arrays = clone_custom_arrays(custom_arrays, "state", out->index);
  return out;
}

bool SimState::is_of_another_model(const Model& model) const noexcept {
  return states_made_ && states_made_ != model.states_made_;
}

void SimState::check_finite() const {
  visit([&](const ArrayInfo& info, const DeviceArray& array) {
    if (array.dtype() != DType::f32) return;
    const auto values = array.read<float>();
    const std::int64_t bad = first_non_finite(values);
    NOVAPHY_REQUIRE(bad < 0, ErrorKind::generic, "'", info.name, "' of state #", index, " is ",
                    values[static_cast<std::size_t>(bad)], " in row ", bad / array.shape().width(),
                    ", component ", bad % array.shape().width(), ": want finite numbers");
  });
}

Control::Control() = default;
Control::~Control() = default;

void Control::visit(const Visitor& visitor) {
  const ArrayInfo* info = built_in_arrays(ArrayOwner::control).data();
#define X(name, dtype, frequency, width, doc) visitor(*info++, name);
#include "novaphy/control_arrays.inc"
  for (Custom& custom : custom_arrays) visitor(custom.spec.info, custom.array);
}

void Control::clear() {
#define X(name, dtype, frequency, width, doc) name.zero();
#include "novaphy/control_arrays.inc"
}

std::shared_ptr<Control> Control::clone() const {
  auto out = std::make_shared<Control>();
#define X(array, dtype, frequency, width, doc) out->array = array.clone();
#include "novaphy/control_arrays.inc"
  out->custom_arrays = clone_custom_arrays(custom_arrays, "control");
  return out;
}

}  // namespace novaphy
