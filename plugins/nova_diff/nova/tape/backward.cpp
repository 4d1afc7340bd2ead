// SPDX-License-Identifier: Apache-2.0
// Backward: which arrays lie between wanted arrays and the loss, then the adjoints in reverse.
#include <array>

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::fail;

class Backward {
 public:
  explicit Backward(TapeState& tape) : tape_(tape) {}
  ~Backward() {
    for (TapeArray& array : tape_.arrays) release(array);
  }
  void run(std::uint32_t loss, const novaphy::DeviceArray* seed);

 private:
  void find_wanted();
  void run_record(Record& record, std::uint32_t index);
  void run_adjoint(const Record& record, std::uint64_t seeded,
                   const std::array<float*, Program::kMaxArguments>& seeds);
  void run_custom(const Record& record, std::uint64_t seeded,
                  const std::array<float*, Program::kMaxArguments>& seeds);
  void check_cuts(const Record& record, std::uint32_t index);
  void keep_intermediate(TapeArray& array);
  void store_gradient(TapeArray& array, const float* cotangent, GradientStore how);
  void report_leaves();
  float* cotangent(TapeArray& array) {
    if (array.cotangent == nullptr) array.cotangent = tape_.pool.take(array.storage->bytes());
    return array.cotangent;
  }
  void release(TapeArray& array) {
    if (array.cotangent != nullptr) tape_.pool.give_back(array.cotangent, array.storage->bytes());
    array.cotangent = nullptr;
  }
  Use* inputs(const Record& record) { return tape_.uses.data() + record.first_use; }
  Use* outputs(const Record& record) { return inputs(record) + record.signature->inputs; }

  TapeState& tape_;
};

// Forward over the records: an array flows when its present value depends on an array that wants its
// gradient.
void Backward::find_wanted() {
  for (TapeArray& array : tape_.arrays) array.flows = false, array.kept = false, array.cut_by = kNone;
  for (std::uint32_t r = 0; r < tape_.records.size(); ++r) {
    Record& record = tape_.records[r];
    const LaunchSignature& signature = *record.signature;
    record.wanted = 0;
    const Use* const in = inputs(record);
    for (std::size_t i = 0; i < signature.inputs; ++i) {
      if (!(signature.differentiable >> i & 1) || in[i].array == kNone) continue;
      const TapeArray& array = tape_.arrays[in[i].array];
      if (array.flows || array.storage->requires_grad) record.wanted |= std::uint64_t{1} << i;
    }
    const Use* const out = outputs(record);
    for (std::size_t k = 0; k < signature.outputs; ++k) {
      if (out[k].array == kNone) continue;
      TapeArray& array = tape_.arrays[out[k].array];
      const bool is_real = signature.float_outputs >> k & 1;
      array.flows = is_real && (record.wanted != 0 || ((signature.adding_outputs >> k & 1) && array.flows));
      array.cut_by = !is_real && record.wanted != 0 ? r : kNone;
      if (array.cut_by != kNone)
        tape_.report.cuts.push_back(novaphy::text(to_string(array.storage->label), ", written at launch ", r,
                                                  " (", record.name(), ")"));
    }
  }
}

void Backward::check_cuts(const Record& record, std::uint32_t index) {
  for (std::size_t i = 0; i < record.signature->inputs; ++i) {
    const std::uint32_t at = inputs(record)[i].array;
    if (at == kNone || tape_.arrays[at].cut_by == kNone || (record.signature->float_inputs >> i & 1))
      continue;
    const std::uint32_t cut = tape_.arrays[at].cut_by;
    fail(ErrorKind::unsupported_feature,
         "Tape: the loss depends on differentiable values through the integers of ",
         to_string(tape_.arrays[at].storage->label), ", written at launch ", cut, " (",
         tape_.records[cut].name(), ") and read at launch ", index, " (", record.name(),
         "), which have no derivative; keep that path in float32.");
  }
}

void Backward::run_record(Record& record, std::uint32_t index) {
  const LaunchSignature& signature = *record.signature;
  const Use* const out = outputs(record);
  std::array<float*, Program::kMaxArguments> seeds;
  std::array<float*, Program::kMaxArguments> owned;  // given back after the adjoint has run
  std::uint64_t seeded = 0;
  for (std::size_t k = 0; k < signature.outputs; ++k) {
    owned[k] = nullptr;
    if (out[k].array == kNone || !(signature.float_outputs >> k & 1)) continue;
    TapeArray& array = tape_.arrays[out[k].array];
    if (array.cotangent == nullptr) continue;
    seeded |= std::uint64_t{1} << k;
    seeds[k] = array.cotangent;
    if (array.last_writer == index) keep_intermediate(array);
    if (!(signature.adding_outputs >> k & 1)) {
      // what stood here before was overwritten, so its cotangent starts from nothing again
      owned[k] = array.cotangent;
      array.cotangent = nullptr;
      continue;
    }
    // the old content passes through; a copy where the adjoint adds to the same array
    for (std::size_t i = 0; i < signature.inputs; ++i) {
      if (inputs(record)[i].array != out[k].array || !(record.wanted >> i & 1) || owned[k] != nullptr)
        continue;
      owned[k] = seeds[k] = tape_.pool.take(array.storage->bytes());
      Effects::now().copy(seeds[k], array.cotangent, array.storage->bytes());
    }
  }
  if (seeded != 0) {
    check_cuts(record, index);
    if (record.wanted != 0)
      record.kernel ? run_adjoint(record, seeded, seeds) : run_custom(record, seeded, seeds);
  }
  for (std::size_t k = 0; k < signature.outputs; ++k)
    if (owned[k] != nullptr) tape_.pool.give_back(owned[k], tape_.arrays[out[k].array].storage->bytes());
}

void Backward::run_adjoint(const Record& record, std::uint64_t seeded,
                           const std::array<float*, Program::kMaxArguments>& seeds) {
  const Program& program = record.kernel->program;
  const Adjoint& adjoint = record.kernel->adjoint(record.wanted, seeded);
  if (adjoint.reached == 0) return;
  std::array<const void*, 2 * Program::kMaxArguments> arguments;
  std::array<void*, Program::kMaxArguments> results;
  std::size_t argument = 0, result = 0;
  Use* const in = inputs(record);
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    if (in[i].array == kNone) {
      arguments[argument++] = &in[i].bits;
      continue;
    }
    TapeArray& array = tape_.arrays[in[i].array];
    arguments[argument++] = array.storage->data();
    if (record.wanted >> i & 1)  // an array without a path keeps no gradient, rather than one of zeros
      results[result++] = adjoint.reached >> i & 1 ? cotangent(array) : nullptr;
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k)
    if (seeded >> k & 1) arguments[argument++] = seeds[k];
  const std::uint32_t patched = adjoint.code.patch_index;
  const bool has_index = patched != kNone && in[patched].array != kNone;
  novaphy::Storage* const index = has_index ? tape_.arrays[in[patched].array].storage.get() : nullptr;
  Effects::now().run({.kernel = record.kernel,
                      .adjoint = &adjoint,
                      .arguments = arguments.data(),
                      .results = results.data(),
                      .rows = record.rows,
                      .domain = record.domain,
                      .index = index});
}

void Backward::run_custom(const Record& record, std::uint64_t seeded,
                          const std::array<float*, Program::kMaxArguments>& seeds) {
  const LaunchSignature& signature = *record.signature;
  std::array<const void*, Program::kMaxArguments> values;
  std::array<float*, Program::kMaxArguments> results;
  std::array<const float*, Program::kMaxArguments> cotangents;
  for (std::size_t i = 0; i < signature.inputs; ++i) {
    values[i] = nullptr, results[i] = nullptr;
    const std::uint32_t at = inputs(record)[i].array;
    if (at == kNone) continue;
    if (record.values_needed >> i & 1) values[i] = tape_.arrays[at].storage->data();
    if (record.wanted >> i & 1) results[i] = cotangent(tape_.arrays[at]);
  }
  for (std::size_t k = 0; k < signature.outputs; ++k) cotangents[k] = seeded >> k & 1 ? seeds[k] : nullptr;
  Effects::now().run({.operation = record.custom->operation,
                      .inputs = {values.data(), signature.inputs},
                      .is_backward = true,
                      .output_cotangents = {cotangents.data(), signature.outputs},
                      .input_cotangents = {results.data(), signature.inputs}});
}

// The gradient of an array that the recording itself made is that of the value it held last.
void Backward::keep_intermediate(TapeArray& array) {
  if (array.kept || array.starts_as_input || !array.storage->requires_grad) return;
  array.kept = true;
  // what an earlier recording left there was the gradient of another value
  const bool ours = slot_of(*array.storage).grad_tape == tape_.serial;
  store_gradient(array, array.cotangent, ours ? GradientStore::add : GradientStore::anew);
}

void Backward::store_gradient(TapeArray& array, const float* cotangent, GradientStore how) {
  Effects::now().store_gradient(*array.storage, cotangent, how, tape_.serial);
}

void Backward::report_leaves() {
  for (TapeArray& array : tape_.arrays) {
    if (!array.storage->requires_grad || !array.starts_as_input) continue;
    if (array.cotangent != nullptr)
      store_gradient(array, array.cotangent, GradientStore::add);
    else
      tape_.report.leaves_without_path.push_back(to_string(array.storage->label));
  }
}

void Backward::run(std::uint32_t loss, const novaphy::DeviceArray* seed) {
  tape_.report = {};
  find_wanted();
  TapeArray& end = tape_.arrays[loss];
  float* const start = cotangent(end);
  if (seed == nullptr)
    Effects::now().set(start, 1.0f);
  else if (seed->bytes() > 0)
    Effects::now().copy(start, seed->storage()->data(),
                        seed->bytes());  // the loss may be the first rows of its memory
  for (std::size_t r = tape_.records.size(); r-- > 0;)
    run_record(tape_.records[r], static_cast<std::uint32_t>(r));
  report_leaves();
}

}  // namespace

void run_backward(TapeState& tape, std::uint32_t loss, const novaphy::DeviceArray* seed) {
  Backward(tape).run(loss, seed);
}

}  // namespace nova
