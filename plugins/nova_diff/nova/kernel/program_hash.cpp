// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/program_hash.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace nova {
namespace {

struct Table {
  std::shared_mutex lock;
  std::unordered_multimap<std::uint64_t, const CompiledKernel*> kernels;  // by hash; equal ones do no harm
};
Table& table() {
  static Table& all = *new Table;  // kernels of modules that outlive this library's statics
  return all;
}

}  // namespace

std::vector<std::uint32_t> identity_of(const Program& program) {
  std::vector<std::uint32_t> words;
  const auto add = [&](auto... numbers) { (words.push_back(static_cast<std::uint32_t>(numbers)), ...); };
  add(program.nodes.size(), program.arguments.size(), program.outputs.size(), program.values.size(),
      program.reductions.size(), program.steps.size());
  for (const Node& n : program.nodes) add(n.op, n.type, n.stage, n.a, n.b, n.c);
  for (const Argument& a : program.arguments) add(a.row, a.reach, a.columns, a.index, a.first_column);
  for (const Output& o : program.outputs)
    add(o.row, o.write, o.reach, o.columns, o.stage, o.index, o.first_column, o.first_value);
  for (const std::uint32_t value : program.values) add(value);
  for (const Reduction& r : program.reductions) add(r.init, r.stage);
  for (const ReductionStep& s : program.steps) add(s.reduction, s.term, s.mask, s.subtract);
  return words;
}

std::uint64_t hash_of(std::span<const std::uint32_t> identity) noexcept {
  std::uint64_t value = 0xCBF29CE484222325ull;
  for (const std::uint32_t word : identity) value = (value ^ word) * 0x9E3779B97F4A7C15ull, value ^= value >> 29;
  return value;
}

const CompiledKernel* find_compiled(const Program& program) {
  if (!has_compiled_kernels()) return nullptr;
  const std::vector<std::uint32_t> identity = identity_of(program);
  Table& all = table();
  const std::shared_lock lock(all.lock);
  const auto [first, last] = all.kernels.equal_range(hash_of(identity));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return std::ranges::equal(entry.second->program, identity);
  });
  return found == last ? nullptr : found->second;
}

bool has_compiled_kernels() noexcept {
  Table& all = table();
  const std::shared_lock lock(all.lock);
  return !all.kernels.empty();
}

void add_compiled_kernels(std::span<const CompiledKernel> kernels) {
  Table& all = table();
  const std::unique_lock lock(all.lock);
  for (const CompiledKernel& kernel : kernels) all.kernels.emplace(hash_of(kernel.program), &kernel);
}

}  // namespace nova
