// SPDX-License-Identifier: Apache-2.0
// Backward: which arrays lie between wanted arrays and the loss, then the adjoints in reverse.
//
// Cotangents exist per root; that of a region is a part of its root's.
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "nova/tape/carry.hpp"
#include "nova/tape/effects.hpp"
#include "nova/tape/find_anomaly.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::fail;

using Pointers = std::array<float*, Program::kMaxArguments>;

class Backward {
 public:
  explicit Backward(TapeState& tape) : tape_(tape) {}
  ~Backward();
  void run(std::uint32_t loss, const novaphy::DeviceArray* seed);
  void run_part(std::span<const Tensor> losses, CotangentCarry& carry);

 private:
  /// The cotangents of a record's outputs; bit k of the masks: output k has one, its buffer is given back.
  struct Seeds {
    Pointers at;
    std::uint64_t mask = 0, owned = 0;
  };
  void find_wanted();
  void run_record(Record& record, std::uint32_t index);
  Seeds take_seeds(const Record& record, std::uint32_t index);
  bool adjoint_adds_to(const Record& record, std::uint32_t at) const;
  void clear_written(const Record& record, const Seeds& seeds);
  void run_adjoint(const Record& record, std::uint32_t index, const Seeds& seeds);
  void run_custom(const Record& record, std::uint32_t index, const Seeds& seeds);
  void check_cuts(const Record& record, std::uint32_t index);
  float* input_cotangent(const Record& record, std::size_t input);
  void add_borrowed();
  void keep_intermediate(std::uint32_t at, std::uint32_t record);
  void store_gradients();
  void store_parts(TapeArray& root);

  TapeArray& root_of(std::uint32_t at) { return tape_.arrays[tape_.arrays[at].root]; }
  float* cotangent(std::uint32_t at) {
    TapeArray& root = root_of(at);
    if (root.cotangent == nullptr) root.cotangent = tape_.pool.take(root.storage->bytes());
    return root.cotangent + tape_.arrays[at].range().begin / sizeof(float);
  }
  float* take(std::uint32_t at) { return tape_.pool.take(tape_.arrays[at].storage->bytes()); }
  void give_back(float* buffer, std::uint32_t at) {
    tape_.pool.give_back(buffer, tape_.arrays[at].storage->bytes());
  }
  void copy_range(float* to, const float* from, ByteRange range) {
    const std::size_t first = range.begin / sizeof(float);
    Effects::now().copy(to + first, from + first, range.end - range.begin);
  }
  const Use* inputs(const Record& record) const { return tape_.uses.data() + record.first_use; }
  const Use* outputs(const Record& record) const { return inputs(record) + record.signature->inputs; }
  bool is_wanted(const Record& record, std::size_t input) const { return record.wanted >> input & 1; }

  /// A buffer that stands for the cotangent of an input while one adjoint runs.
  struct Borrowed {
    float* buffer;
    std::uint32_t array;
  };
  TapeState& tape_;
  std::vector<Borrowed> borrowed_;
};

Backward::~Backward() {
  for (TapeArray& array : tape_.arrays) {
    const std::size_t bytes = array.storage->bytes();
    if (array.cotangent != nullptr) tape_.pool.give_back(array.cotangent, bytes);
    if (array.kept != nullptr) tape_.pool.give_back(array.kept, bytes);
    array.cotangent = array.kept = nullptr;
  }
}

void Backward::find_wanted() {
  for (TapeArray& array : tape_.arrays) array.flows = false, array.cut_by = kNone;
  for (std::uint32_t r = 0; r < tape_.records.size(); ++r) {
    tape_.follow(r);
    const Record& record = tape_.records[r];
    for (std::size_t k = 0; k < record.signature->outputs; ++k) {
      const std::uint32_t at = outputs(record)[k].array;
      if (at != kNone && root_of(at).cut_by == r)
        tape_.report.cuts.push_back(novaphy::text(to_string(tape_.arrays[at].storage->label()),
                                                  ", written at launch ", r, " (", record.name(), ")"));
    }
  }
}

void Backward::check_cuts(const Record& record, std::uint32_t index) {
  for (std::size_t i = 0; i < record.signature->inputs; ++i) {
    const std::uint32_t at = inputs(record)[i].array;
    if (at == kNone || (record.signature->float_inputs >> i & 1)) continue;
    const std::uint32_t cut = root_of(at).cut_by;
    if (cut == kNone) continue;
    fail(ErrorKind::unsupported_feature,
         "Tape: the loss depends on differentiable values through the integers of ",
         to_string(tape_.arrays[at].storage->label()), ", written at launch ", cut, " (",
         tape_.records[cut].name(), ") and read at launch ", index, " (", record.name(),
         "), which have no derivative; keep that path in float32.");
  }
}

// The cotangents of what the record wrote, out of the way of what its adjoint adds to.
Backward::Seeds Backward::take_seeds(const Record& record, std::uint32_t index) {
  const LaunchSignature& signature = *record.signature;
  Seeds seeds;
  for (std::size_t k = 0; k < signature.outputs; ++k) {
    const std::uint32_t at = outputs(record)[k].array;
    if (at == kNone || !(signature.float_outputs >> k & 1) || root_of(at).cotangent == nullptr) continue;
    seeds.mask |= std::uint64_t{1} << k;
    seeds.at[k] = cotangent(at);
    keep_intermediate(at, index);
    const bool sets = !(signature.adding_outputs >> k & 1);
    if (sets && tape_.arrays[at].root == at) {
      // what stood here before was overwritten, so its cotangent starts from nothing again
      tape_.arrays[at].cotangent = nullptr;
      seeds.owned |= std::uint64_t{1} << k;
    } else if (adjoint_adds_to(record, at)) {
      const std::size_t bytes = tape_.arrays[at].storage->bytes();
      float* const there = std::exchange(seeds.at[k], take(at));
      Effects::now().copy(seeds.at[k], there, bytes);
      if (sets) Effects::now().zero(there, bytes);
      seeds.owned |= std::uint64_t{1} << k;
    }
  }
  return seeds;
}

bool Backward::adjoint_adds_to(const Record& record, std::uint32_t at) const {
  for (std::size_t i = 0; i < record.signature->inputs; ++i)
    if (is_wanted(record, i) && tape_.overlap(inputs(record)[i].array, at)) return true;
  return false;
}

// After the adjoint: buffers go back, and what a `set` overwrote has no cotangent.
void Backward::clear_written(const Record& record, const Seeds& seeds) {
  for (std::size_t k = 0; k < record.signature->outputs; ++k) {
    if (!(seeds.mask >> k & 1)) continue;
    const std::uint32_t at = outputs(record)[k].array;
    if (seeds.owned >> k & 1)
      give_back(seeds.at[k], at);
    else if (!(record.signature->adding_outputs >> k & 1))
      Effects::now().zero(seeds.at[k], tape_.arrays[at].storage->bytes());
  }
}

void Backward::run_record(Record& record, std::uint32_t index) {
  const Seeds seeds = take_seeds(record, index);
  if (seeds.mask == 0) return;
  check_cuts(record, index);
  if (record.wanted != 0) {
    set_adjoint_record(index);
    record.kernel ? run_adjoint(record, index, seeds) : run_custom(record, index, seeds);
    add_borrowed();
  }
  clear_written(record, seeds);
}

// Where an adjoint adds to the cotangent of input `input`. Two inputs that share some bytes but not all would
// be added to in an order that depends on threads, so the second gets a buffer of its own.
float* Backward::input_cotangent(const Record& record, std::size_t input) {
  const std::uint32_t at = inputs(record)[input].array;
  for (std::size_t other = 0; other < input; ++other) {
    const std::uint32_t before = inputs(record)[other].array;
    if (before == at || !is_wanted(record, other) || !tape_.overlap(before, at)) continue;
    borrowed_.push_back({take(at), at});
    return borrowed_.back().buffer;
  }
  return cotangent(at);
}

void Backward::add_borrowed() {
  static const Kernel accumulate = make_indexed_expr_kernel_typed_access_n(
      {.name = "accumulate", .in = {in("from", Row::f32)}, .out = {out("to", Row::f32).add()}},
      [](KernelScope& k) { k.write("to", k.f32("from")); });
  for (const Borrowed& part : borrowed_) {
    const void* const from = part.buffer;
    void* const to = cotangent(part.array);
    const std::size_t bytes = tape_.arrays[part.array].storage->bytes();
    Effects::now().run({.kernel = accumulate.compiled(),
                        .arguments = &from,
                        .results = &to,
                        .rows = static_cast<std::int64_t>(bytes / sizeof(float))});
    give_back(part.buffer, part.array);
  }
  borrowed_.clear();
}

void Backward::run_adjoint(const Record& record, std::uint32_t index, const Seeds& seeds) {
  const LaunchSignature& signature = *record.signature;
  const Adjoint& adjoint = record.kernel->adjoint(record.wanted, seeds.mask);
  if (adjoint.reached == 0) return;
  tape_.require_values(index, adjoint.reads);
  std::array<const void*, 2 * Program::kMaxArguments> arguments;
  std::array<void*, Program::kMaxArguments> results;
  std::size_t argument = 0, result = 0;
  for (std::size_t i = 0; i < signature.inputs; ++i) {
    const Use& use = inputs(record)[i];
    if (use.array == kNone) {
      arguments[argument++] = &use.bits;
      continue;
    }
    arguments[argument++] = tape_.value_of(use);
    if (is_wanted(record, i))  // an array without a path keeps no gradient, rather than one of zeros
      results[result++] = adjoint.reached >> i & 1 ? input_cotangent(record, i) : nullptr;
  }
  for (std::size_t k = 0; k < signature.outputs; ++k)
    if (seeds.mask >> k & 1) arguments[argument++] = seeds.at[k];
  // patches belong to the content that the index array has now, not to a saved copy
  const std::uint32_t patched = adjoint.code.patch_index;
  const Use* const patches = patched != kNone ? inputs(record) + patched : nullptr;
  const bool is_current = patches != nullptr && patches->array != kNone && !tape_.is_saved(*patches);
  Effects::now().run({.kernel = record.kernel,
                      .adjoint = &adjoint,
                      .arguments = arguments.data(),
                      .results = results.data(),
                      .rows = record.rows,
                      .domain = record.domain,
                      .index = is_current ? tape_.arrays[patches->array].storage.get() : nullptr});
}

void Backward::run_custom(const Record& record, std::uint32_t index, const Seeds& seeds) {
  const LaunchSignature& signature = *record.signature;
  tape_.require_values(index, record.values_needed);
  std::array<const void*, Program::kMaxArguments> values;
  std::array<float*, Program::kMaxArguments> results;
  std::array<const float*, Program::kMaxArguments> cotangents;
  std::array<std::size_t, Program::kMaxArguments> sizes;
  for (std::size_t i = 0; i < signature.inputs; ++i) {
    values[i] = nullptr, results[i] = nullptr, sizes[i] = 0;
    const Use& use = inputs(record)[i];
    if (use.array == kNone) continue;
    if (record.values_needed >> i & 1) values[i] = tape_.value_of(use);
    if (!is_wanted(record, i)) continue;
    results[i] = input_cotangent(record, i);
    sizes[i] = tape_.arrays[use.array].storage->bytes() / sizeof(float);
  }
  for (std::size_t k = 0; k < signature.outputs; ++k)
    cotangents[k] = seeds.mask >> k & 1 ? seeds.at[k] : nullptr;
  Effects::now().run({.operation = record.custom->operation,
                      .inputs = {values.data(), signature.inputs},
                      .is_backward = true,
                      .output_cotangents = {cotangents.data(), signature.outputs},
                      .input_cotangents = {results.data(), signature.inputs},
                      .input_sizes = {sizes.data(), signature.inputs}});
}

// The gradient of what the recording itself made is that of the value which stood there last.
void Backward::keep_intermediate(std::uint32_t at, std::uint32_t record) {
  TapeArray& root = root_of(at);
  if (!root.storage->requires_grad()) return;
  for (const Piece& piece : tape_.pieces_of(root, tape_.arrays[at].range())) {
    if (piece.writer != record || piece.read_first) continue;
    if (root.kept == nullptr) root.kept = tape_.pool.take(root.storage->bytes());
    copy_range(root.kept, root.cotangent, piece.range);
  }
}

// Of a root that the recording wrote in parts: the gradient of the value before the recording where that was
// read or still stands, else of the value that stood there last.
void Backward::store_parts(TapeArray& root) {
  if (root.cotangent == nullptr) return;
  for (const Piece& piece : tape_.pieces_of(root, root.range()))
    if (piece.read_first || piece.writer == kNone) copy_range(root.kept, root.cotangent, piece.range);
}

void Backward::store_gradients() {
  for (TapeArray& array : tape_.arrays) {
    if (!array.storage->requires_grad() || array.storage->root()) continue;
    const float* gradient = array.kept;
    if (array.kept != nullptr)
      store_parts(array);
    else if (array.starts_as_input)
      gradient = array.cotangent;
    if (gradient != nullptr) {
      // what an earlier recording left beside a value that it made was the gradient of another value
      const bool ours = array.starts_as_input || slot_of(*array.storage).grad_tape == tape_.serial;
      Effects::now().store_gradient(array.storage, gradient, ours ? GradientStore::add : GradientStore::anew,
                                    tape_.serial);
    } else if (array.starts_as_input) {
      tape_.report.leaves_without_path.push_back(to_string(array.storage->label()));
    }
  }
}

void Backward::run(std::uint32_t loss, const novaphy::DeviceArray* seed) {
  tape_.report = {};
  find_wanted();
  float* const start = cotangent(loss);
  if (seed == nullptr)
    Effects::now().set(start, 1.0f);
  else if (seed->bytes() > 0) {
    Effects::now().read(seed->storage());
    Effects::now().copy(start, seed->storage()->data(),
                        seed->bytes());  // the loss may be the first rows of its memory
  }
  for (std::size_t r = tape_.records.size(); r-- > 0;)
    run_record(tape_.records[r], static_cast<std::uint32_t>(r));
  store_gradients();
}

void Backward::run_part(std::span<const Tensor> losses, CotangentCarry& carry) {
  tape_.report = {};
  find_wanted();
  for (TapeArray& array : tape_.arrays)
    if (!array.storage->root()) array.cotangent = carry.take(array.storage.get());
  for (const Tensor& loss : losses) {
    if (!loss.storage() || tape_.find(&loss.storage()->base()) == kNone) continue;  // a constant
    *cotangent(tape_.array_of(loss.storage())) += 1.0f;
  }
  for (std::size_t r = tape_.records.size(); r-- > 0;)
    run_record(tape_.records[r], static_cast<std::uint32_t>(r));
  for (TapeArray& array : tape_.arrays) {
    if (array.storage->root() || !array.starts_as_input) continue;
    if (array.kept != nullptr)
      tape_.pool.give_back(std::exchange(array.kept, nullptr), array.storage->bytes());
    if (array.cotangent != nullptr)
      carry.put(array.storage, std::exchange(array.cotangent, nullptr));
    else if (array.storage->requires_grad())
      tape_.report.leaves_without_path.push_back(to_string(array.storage->label()));
  }
  for (TapeArray& array : tape_.arrays)
    if (array.kept != nullptr)
      Effects::now().store_gradient(array.storage, array.kept, GradientStore::anew, tape_.serial);
}

}  // namespace

float* CotangentCarry::take(const novaphy::Storage* array) {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.array.get() == array; });
  if (at == entries_.end()) return nullptr;
  float* const cotangent = at->cotangent;
  entries_.erase(at);
  return cotangent;
}

void CotangentCarry::put(std::shared_ptr<novaphy::Storage> array, float* cotangent) {
  entries_.push_back({std::move(array), cotangent});
}

void run_backward_part(TapeState& tape, std::span<const Tensor> losses, CotangentCarry& carry,
                       std::span<const std::shared_ptr<novaphy::Storage>> starts) {
  check_versions(tape);
  for (const std::shared_ptr<novaphy::Storage>& start : starts)
    if (const std::uint32_t at = tape.find(start.get()); at != kNone) tape.arrays[at].carried = true;
  Backward(tape).run_part(losses, carry);
}

void run_backward(TapeState& tape, std::uint32_t loss, const novaphy::DeviceArray* seed) {
  Backward(tape).run(loss, seed);
}

}  // namespace nova
