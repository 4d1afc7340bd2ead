// SPDX-License-Identifier: Apache-2.0
// Tangents along a recording, and of its backward.
#include "novaphy/nova/derivatives.hpp"
#include "nova/tape/tangent_effects.hpp"
#include "nova/tape/tape_state.hpp"

#include <cstring>

namespace nova {
namespace {

using novaphy::ErrorKind;

void check_pairs(const char* what, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  NOVAPHY_REQUIRE(inputs.size() == tangents.size(), ErrorKind::value, what, ": ", inputs.size(),
                  " inputs and ", tangents.size(), " directions were given; give one for each");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const Tensor* t : {&inputs[i], &tangents[i]})
      NOVAPHY_REQUIRE(t->dtype() == novaphy::DType::f32, ErrorKind::type, what, ": ",
                      t == &inputs[i] ? "input " : "direction ", i, " is ", to_string(t->dtype()),
                      ", float32 is wanted");
    NOVAPHY_REQUIRE(inputs[i].shape() == tangents[i].shape(), ErrorKind::shape_mismatch, what, ": input ", i,
                    " has shape ", to_string(inputs[i].shape()), ", its direction ",
                    to_string(tangents[i].shape()));
  }
}

/// The tangents of all arrays of a recording after its last launch.
class Sweep {
 public:
  Sweep(const char* what, TapeState& tape, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
    NOVAPHY_REQUIRE(!tape.open, ErrorKind::gradient_not_ready, what,
                    ": the recording is still open; differentiate after the 'with' block");
    novaphy::refuse_in_capture(what);
    check_pairs(what, inputs, tangents);
    check_versions(tape);
    for (std::uint32_t at = 0; at < tape.arrays.size(); ++at)  // a region's tangent is a part of its root's
      effects.add(effects.address_of(tape, tape.arrays[at].root), tape.arrays[at].storage->base().bytes());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].size() == 0) continue;
      const std::uint32_t at = tape.find(inputs[i].storage().get());
      NOVAPHY_REQUIRE(at != kNone && tape.arrays[tape.arrays[at].root].starts_as_input, ErrorKind::value,
                      what, ": input ", i, ", ", to_string(inputs[i].storage()->label()), ", ",
                      at == kNone ? "is not on the tape; no recorded launch reads it"
                                  : "is written by the recording before it is read");
      std::memcpy(effects.make(inputs[i].storage()->data()), tangents[i].storage()->data(),
                  tangents[i].array().bytes());
    }
    for (std::uint32_t r = 0; r < tape.records.size(); ++r) effects.carry(tape, r);
  }

  TangentEffects effects;
};

void check_wanted(const char* what, std::span<const Tensor> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    NOVAPHY_REQUIRE(arrays[i].requires_grad(), ErrorKind::value, what, i,
                    " does not require gradient; set requires_grad before the recording");
}

// The gradient belongs to the memory that a tensor is a part of.
std::vector<Tensor> gradients_of(const TangentEffects& effects, std::span<const Tensor> arrays,
                                 std::vector<float> TangentEffects::Gradient::*part) {
  std::vector<Tensor> results;
  for (const Tensor& array : arrays) {
    Tensor& result = results.emplace_back(array.shape());
    if (array.size() == 0) continue;
    const novaphy::Storage& storage = *array.storage();
    const auto* const gradient = effects.gradient(storage.root() ? *storage.root() : storage);
    if (gradient != nullptr)
      std::memcpy(result.storage()->mutable_data(),
                  (gradient->*part).data() + storage.offset() / sizeof(float), result.array().bytes());
  }
  return results;
}

}  // namespace

std::vector<Tensor> jvp(Tape& tape, std::span<const Tensor> inputs, std::span<const Tensor> tangents,
                        std::span<const Tensor> outputs) {
  std::vector<Tensor> results;
  for (const Tensor& output : outputs) {
    NOVAPHY_REQUIRE(output.dtype() == novaphy::DType::f32, ErrorKind::type, "nova.jvp: an output is ",
                    to_string(output.dtype()), ", float32 is wanted");
    const std::uint32_t at = output.size() == 0 ? 0 : state_of(tape).find(output.storage().get());
    NOVAPHY_REQUIRE(at != kNone, ErrorKind::value, "nova.jvp: an output, ",
                    to_string(output.storage()->label()),
                    ", is not on the tape; compute it inside the recording");
    results.emplace_back(output.shape());
  }
  const NoGrad no_grad;
  const Sweep sweep("nova.jvp", state_of(tape), inputs, tangents);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].size() == 0) continue;
    if (const float* const tangent = sweep.effects.find(outputs[k].storage()->data()))
      std::memcpy(results[k].storage()->mutable_data(), tangent, results[k].array().bytes());
  }
  return results;
}

std::vector<Tensor> vjp(Tape& tape, const Tensor& output, const Tensor& seed,
                        std::span<const Tensor> inputs) {
  check_wanted("nova.vjp: input ", inputs);
  const NoGrad no_grad;
  TangentEffects effects;
  tape.backward(output, seed);
  return gradients_of(effects, inputs, &TangentEffects::Gradient::value);
}

std::vector<Tensor> hvp(Tape& tape, const Tensor& loss, std::span<const Tensor> params,
                        std::span<const Tensor> direction) {
  check_wanted("nova.hvp: parameter ", params);
  NOVAPHY_REQUIRE(loss.size() == 1, ErrorKind::value, "nova.hvp: the loss has shape ",
                  to_string(loss.shape()), ", one number is wanted");
  const NoGrad no_grad;
  const Sweep sweep("nova.hvp", state_of(tape), params, direction);
  tape.backward(loss);
  return gradients_of(sweep.effects, params, &TangentEffects::Gradient::tangent);
}

}  // namespace nova
