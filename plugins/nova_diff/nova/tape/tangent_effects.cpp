// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/tangent_effects.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "nova/expr/passes.hpp"
#include "nova/kernel/execute.hpp"

namespace nova {
void TangentEffects::add(const void* memory, std::size_t bytes) {
  std::size_t offset = 0;
  if (const Block* const known = block_of(memory, offset); known != nullptr && offset > 0) return;  // a part
  Block& block = blocks_[static_cast<const std::byte*>(memory)];
  block.bytes = std::max(block.bytes, bytes);
  if (!block.tangent.empty()) block.tangent.resize(block.bytes / sizeof(float));
}

const TangentEffects::Block* TangentEffects::block_of(const void* memory, std::size_t& offset) const {
  const auto* const at = static_cast<const std::byte*>(memory);
  auto place = blocks_.upper_bound(at);
  if (place == blocks_.begin()) return nullptr;
  --place;
  offset = static_cast<std::size_t>(at - place->first);
  return offset < place->second.bytes ? &place->second : nullptr;
}

const float* TangentEffects::find(const void* memory) const {
  std::size_t offset = 0;
  const Block* const block = block_of(memory, offset);
  return block == nullptr || block->tangent.empty() ? nullptr
                                                    : block->tangent.data() + offset / sizeof(float);
}

float* TangentEffects::make(const void* memory) {
  std::size_t offset = 0;
  auto* const block = const_cast<Block*>(block_of(memory, offset));
  if (block == nullptr)
    novaphy::fail(novaphy::ErrorKind::generic,
                  "nova: a tangent was wanted for memory that is not on the tape");
  block->tangent.resize(block->bytes / sizeof(float));
  return block->tangent.data() + offset / sizeof(float);
}

const TangentEffects::Gradient* TangentEffects::gradient(const novaphy::Storage& array) const {
  const auto place = gradients_.find(&array);
  return place == gradients_.end() ? nullptr : &place->second;
}

// The value that an input saw, and its tangent now. A copy that was saved before the array was overwritten
// keeps the tangent of its time too, for a later backward.
const void* TangentEffects::value_of(const TapeState& tape, const Use& use, const float*& tangent) {
  const novaphy::Storage& storage = *tape.arrays[use.array].storage;
  const void* const value = tape.value_of(use);
  tangent = find(address_of(tape, use.array));
  if (tape.is_saved(use)) {
    add(value, storage.bytes());
    if (tangent != nullptr) std::memcpy(make(value), tangent, storage.bytes());
  }
  return value;
}

// The tangents that a launch writes: made where it moves, cleared where it sets something that does not.
float* TangentEffects::written_tangent(const TapeState& tape, std::uint32_t array, bool moves, bool adds) {
  const void* const memory = address_of(tape, array);
  if (moves) return make(memory);
  if (!adds) clear(memory, tape.arrays[array].storage->bytes());
  return nullptr;
}

const void* TangentEffects::address_of(const TapeState& tape, std::uint32_t array) {
  const novaphy::Storage& storage = *tape.arrays[array].storage;
  if (!tape.arrays[array].released) return storage.data();
  std::unique_ptr<std::byte[]>& place = stand_ins_[array];
  if (!place) place.reset(new std::byte[storage.bytes()]);
  return place.get();
}

void TangentEffects::carry(const TapeState& tape, std::uint32_t index) {
  const Record& record = tape.records[index];
  const LaunchSignature& signature = *record.signature;
  const Use* const in = tape.uses.data() + record.first_use;
  const Use* const out = in + signature.inputs;
  std::array<const void*, Program::kMaxArguments> values{};
  std::array<const float*, Program::kMaxArguments> tangents{};
  std::uint64_t moving = 0;
  for (std::size_t i = 0; i < signature.inputs; ++i) {
    values[i] = &in[i].bits;
    if (in[i].array == kNone) continue;
    const float* tangent = nullptr;
    values[i] = value_of(tape, in[i], tangent);
    if (!(signature.differentiable >> i & 1) || tangent == nullptr) continue;
    tangents[i] = tangent, moving |= std::uint64_t{1} << i;
  }
  std::array<float*, Program::kMaxArguments> results{};
  for (std::size_t k = 0; k < signature.outputs; ++k)
    if (out[k].array != kNone && (signature.float_outputs >> k & 1))
      results[k] =
          written_tangent(tape, out[k].array, moving != 0, signature.adding_outputs >> k & 1);
  if (moving == 0) return;
  const Tangent* const kernel = record.kernel ? &record.kernel->tangent(nullptr, moving) : nullptr;
  tape.require_values(index, kernel != nullptr ? kernel->reads : record.values_needed);
  if (kernel == nullptr)
    return record.custom->operation->tangent({{values.data(), signature.inputs},
                                              {tangents.data(), signature.inputs},
                                              {results.data(), signature.outputs}});
  std::vector<const void*> arguments(values.begin(), values.begin() + signature.inputs);
  for (std::size_t i = 0; i < signature.inputs; ++i)
    if (tangents[i] != nullptr) arguments.push_back(tangents[i]);
  std::vector<void*> targets;
  for (std::size_t k = 0; k < signature.outputs; ++k)
    if (signature.float_outputs >> k & 1) targets.push_back(results[k]);
  execute(kernel->code, arguments.data(), targets.data(), record.rows,
          record.domain);
}

// First the tangent, which reads what the run may overwrite, then the run itself.
void TangentEffects::run(const KernelRun& kernel) {
  const Program& program = kernel.adjoint != nullptr ? kernel.adjoint->program : kernel.kernel->program;
  const std::size_t inputs = program.arguments.size(), forward_inputs = kernel.kernel->inputs;
  std::vector<const void*> arguments(kernel.arguments, kernel.arguments + inputs);
  std::uint64_t moving = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    const bool may_move = i >= forward_inputs || (kernel.kernel->differentiable >> i & 1);
    const float* const tangent = may_move ? find(arguments[i]) : nullptr;
    if (tangent == nullptr) continue;
    moving |= std::uint64_t{1} << i;
    arguments.push_back(tangent);
  }
  if (moving != 0) {
    const Tangent& tangent = kernel.kernel->tangent(kernel.adjoint, moving);
    std::vector<void*> results(tangent.program.outputs.size());  // as those of the run, which are all float32
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Output& output = tangent.program.outputs[k];
      const auto first = tangent.program.values.begin() + static_cast<std::ptrdiff_t>(output.first_value);
      const bool moves = std::any_of(first, first + output.columns * width_of(output.row),
                                     [](std::uint32_t node) { return node != kNone; });
      if (moves && kernel.results[k] != nullptr) results[k] = make(kernel.results[k]);
    }
    execute(tangent.code, arguments.data(), results.data(), kernel.rows, kernel.domain);
  }
  run_now(kernel);
}

void TangentEffects::run(const CustomRun& custom) {
  const std::size_t inputs = custom.inputs.size(), outputs = custom.output_cotangents.size();
  std::array<const float*, Program::kMaxArguments> input_tangents{}, seed_tangents{};
  std::array<float*, Program::kMaxArguments> results{};
  bool moves = false;
  for (std::size_t i = 0; i < inputs; ++i) {
    input_tangents[i] = custom.inputs[i] == nullptr ? nullptr : find(custom.inputs[i]);
    moves |= input_tangents[i] != nullptr;
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    seed_tangents[k] = custom.output_cotangents[k] == nullptr ? nullptr : find(custom.output_cotangents[k]);
    moves |= seed_tangents[k] != nullptr;
  }
  if (moves) {
    for (std::size_t i = 0; i < inputs; ++i)
      if (custom.input_cotangents[i] != nullptr) results[i] = make(custom.input_cotangents[i]);
    custom.operation->backward_tangent({custom.inputs,
                                        {input_tangents.data(), inputs},
                                        custom.output_cotangents,
                                        {seed_tangents.data(), outputs},
                                        {results.data(), inputs}});
  }
  run_now(custom);
}

void TangentEffects::clear(const void* memory, std::size_t bytes) {
  if (find(memory) != nullptr) std::memset(make(memory), 0, bytes);
}

void TangentEffects::zero(void* to, std::size_t bytes) {
  add(to, bytes);
  clear(to, bytes);
  std::memset(to, 0, bytes);
}

void TangentEffects::set(float* to, float value) {
  clear(to, sizeof value);
  *to = value;
}

void TangentEffects::copy(void* to, const void* from, std::size_t bytes) {
  if (const float* const tangent = find(from))
    std::memcpy(make(to), tangent, bytes);
  else
    clear(to, bytes);
  std::memcpy(to, from, bytes);
}

void TangentEffects::store_gradient(const std::shared_ptr<novaphy::Storage>& array, const float* cotangent,
                                    GradientStore, std::uint64_t) {
  Gradient& gradient = gradients_[array.get()];
  const std::size_t count = array->bytes() / sizeof(float);
  gradient.value.assign(cotangent, cotangent + count);
  gradient.tangent.assign(count, 0.0f);
  if (const float* const tangent = find(cotangent)) gradient.tangent.assign(tangent, tangent + count);
}

}  // namespace nova
