// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/program_hash.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace nova {
namespace {

struct Hash {
  std::uint64_t value = 0xCBF29CE484222325ull;
  template <class... Numbers>
  void add(Numbers... numbers) noexcept {
    ((value = (value ^ static_cast<std::uint64_t>(numbers)) * 0x9E3779B97F4A7C15ull, value ^= value >> 29),
     ...);
  }
};

struct Table {
  std::shared_mutex lock;
  std::unordered_map<std::uint64_t, const CompiledKernel*> kernels;
};
Table& table() {
  static Table& all = *new Table;  // kernels of modules that outlive this library's statics
  return all;
}

}  // namespace

std::uint64_t hash_of(const Program& program) noexcept {
  Hash hash;
  for (const Node& n : program.nodes) hash.add(n.op, n.type, n.stage, n.a, n.b, n.c);
  for (const Argument& a : program.arguments) hash.add(a.row, a.reach, a.columns, a.index, a.first_column);
  for (const Output& o : program.outputs)
    hash.add(o.row, o.write, o.reach, o.columns, o.stage, o.index, o.first_column, o.first_value);
  for (const std::uint32_t value : program.values) hash.add(value);
  for (const Reduction& r : program.reductions) hash.add(r.init, r.stage);
  for (const ReductionStep& s : program.steps) hash.add(s.reduction, s.term, s.mask, s.subtract);
  hash.add(program.nodes.size(), program.arguments.size(), program.outputs.size(), program.values.size(),
           program.reductions.size(), program.steps.size());
  return hash.value;
}

const CompiledKernel* find_compiled(std::uint64_t program) {
  Table& all = table();
  const std::shared_lock lock(all.lock);
  const auto found = all.kernels.find(program);
  return found == all.kernels.end() ? nullptr : found->second;
}

bool has_compiled_kernels() noexcept {
  Table& all = table();
  const std::shared_lock lock(all.lock);
  return !all.kernels.empty();
}

void add_compiled_kernels(std::span<const CompiledKernel> kernels) {
  Table& all = table();
  const std::unique_lock lock(all.lock);
  for (const CompiledKernel& kernel : kernels) all.kernels.try_emplace(kernel.program, &kernel);
}

}  // namespace nova
