// SPDX-License-Identifier: Apache-2.0
// Custom operations: checks, the record, the call.
#include "novaphy/nova/custom.hpp"

#include <array>

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::fail;

LaunchSignature signature_of(std::span<const CustomInput> inputs, std::span<const CustomOutput> outputs) {
  LaunchSignature s{.inputs = static_cast<std::uint32_t>(inputs.size()),
                    .outputs = static_cast<std::uint32_t>(outputs.size())};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_float = inputs[i].array().dtype() == novaphy::DType::f32;
    if (is_float) s.float_inputs |= std::uint64_t{1} << i;
    if (is_float && inputs[i].differentiable()) s.differentiable |= std::uint64_t{1} << i;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].array().dtype() == novaphy::DType::f32) s.float_outputs |= std::uint64_t{1} << k;
    if (outputs[k].adds()) s.adding_outputs |= std::uint64_t{1} << k;
  }
  return s;
}

std::uint64_t values_needed(std::span<const CustomInput> inputs) {
  std::uint64_t needed = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].value_needed()) needed |= std::uint64_t{1} << i;
  return needed;
}

void check(const CustomOperation& operation, std::span<const CustomInput> inputs,
           std::span<const CustomOutput> outputs) {
  constexpr std::size_t kMost = Program::kMaxArguments;
  NOVAPHY_REQUIRE(inputs.size() <= kMost && outputs.size() <= kMost, ErrorKind::value, operation.name(), ": ",
                  inputs.size(), " inputs and ", outputs.size(), " outputs were given, ", kMost,
                  " of each is the most");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::size_t other = 0; other < k; ++other) {
      NOVAPHY_REQUIRE(!share_memory(outputs[k].array(), outputs[other].array()), ErrorKind::value,
                      operation.name(), ": outputs ", other, " and ", k, " share memory");
    }
}

void run_forward(const std::shared_ptr<const CustomOperation>& operation, std::span<const CustomInput> inputs,
                 std::span<const CustomOutput> outputs) {
  std::array<const void*, Program::kMaxArguments> values;
  std::array<void*, Program::kMaxArguments> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& storage = inputs[i].array().storage();
    values[i] = storage ? storage->data() : nullptr;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& storage = outputs[k].array().storage();
    results[k] = storage ? storage->data_without_version() : nullptr;
  }
  const NoGrad not_recorded;
  Effects::now().run({.operation = operation,
                      .inputs = {values.data(), inputs.size()},
                      .outputs = {results.data(), outputs.size()},
                      .operands = inputs,
                      .results = outputs});
}

}  // namespace

CustomOperation::~CustomOperation() = default;

void CustomOperation::tangent(const Tangent&) const {
  fail(ErrorKind::unsupported_feature, name(),
       ": this operation has no forward derivative; nova.jvp and nova.jacobian cannot pass it");
}

void CustomOperation::backward_tangent(const BackwardTangent&) const {
  fail(ErrorKind::unsupported_feature, name(),
       ": this operation has no second derivative; nova.hvp cannot pass it");
}

void apply(std::shared_ptr<const CustomOperation> operation, std::span<const CustomInput> inputs,
           std::span<const CustomOutput> outputs) {
  NOVAPHY_REQUIRE(operation != nullptr, ErrorKind::value, "nova.apply: the operation is empty");
  check(*operation, inputs, outputs);
  TapeState* const tape = TapeState::active();
  if (tape == nullptr) {
    for (const CustomOutput& output : outputs)
      if (const auto& storage = output.array().storage()) storage->mutable_data();
    return run_forward(operation, inputs, outputs);
  }

  tape->begin_record(std::make_shared<const Custom>(Custom{signature_of(inputs, outputs), operation}),
                     values_needed(inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) tape->note_input(inputs[i].array().storage(), i);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& storage = outputs[k].array().storage();
    tape->save_before_write(storage);
    if (storage) storage->mutable_data();
    tape->note_output(storage, k);
  }
  try {
    run_forward(operation, inputs, outputs);
  } catch (...) {
    for (const CustomOutput& output : outputs)
      if (const auto& storage = output.array().storage())
        storage->mutable_data();  // who knows what stands there
    throw;
  }
  for (const CustomOutput& output : outputs)
    if (const auto& storage = output.array().storage(); storage && storage->escaped())
      tape->note_content(*storage);
}

}  // namespace nova
