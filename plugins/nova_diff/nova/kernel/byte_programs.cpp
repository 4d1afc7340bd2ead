// SPDX-License-Identifier: Apache-2.0
// Programs of others: compiled once for the same bytes, launched like Nova's own.
#include "nova/kernel/byte_programs.hpp"

#include <algorithm>
#include <string_view>

#include "novaphy/nova/tape.hpp"

namespace nova {

using novaphy::ErrorKind;
using novaphy::LaunchOperand;
using novaphy::ProgramId;

// 0 = there is none. A hash alone would let two programs that share it stand for each other.
std::size_t BytePrograms::find(std::uint64_t hash, std::span<const std::byte> bytes) const {
  const auto [first, last] = by_hash_.equal_range(hash);
  const auto same = std::find_if(first, last, [&](const auto& known) {
    return std::ranges::equal(entries_[known.second - 1].bytes, bytes);
  });
  return same == last ? 0 : same->second;
}

ProgramId BytePrograms::compile(std::span<const std::byte> program) {
  const std::string_view text(reinterpret_cast<const char*>(program.data()), program.size());
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  {
    const std::lock_guard lock(mutex_);
    if (const std::size_t known = find(hash, program)) return ProgramId{known};
  }
  Kernel made = nova::compile(deserialize(program));  // long: others may compile meanwhile
  const std::lock_guard lock(mutex_);
  if (const std::size_t known = find(hash, program)) return ProgramId{known};
  entries_.push_back({{program.begin(), program.end()}, std::move(made)});
  by_hash_.emplace(hash, entries_.size());
  return ProgramId{entries_.size()};
}

const Kernel& BytePrograms::kernel(ProgramId program, const char* who) const {
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<std::uint64_t>(program);
  NOVAPHY_REQUIRE(id >= 1 && id <= entries_.size(), ErrorKind::value, "INova::", who,
                  ": there is no program ", id, "; give an id that compile() returned");
  return entries_[id - 1].kernel;
}

namespace {

std::vector<Operand> converted(std::span<const LaunchOperand> given) {
  std::vector<Operand> out;
  out.reserve(given.size());
  for (const LaunchOperand& operand : given)
    out.push_back(operand.array != nullptr ? Operand(*operand.array)
                  : operand.is_float       ? Operand(std::bit_cast<float>(operand.bits))
                                           : Operand(std::bit_cast<std::int32_t>(operand.bits)));
  return out;
}

}  // namespace

void BytePrograms::launch(ProgramId program, const novaphy::LaunchArgs& args) {
  nova::launch(kernel(program, "launch"), converted(args.inputs), converted(args.outputs), args.rows,
               args.domain_rows);
}

std::string BytePrograms::text(ProgramId program) const {
  return kernel(program, "text").text();
}

std::uint64_t BytePrograms::active_tape() const noexcept {
  return is_recording() ? novaphy::open_recording() : 0;
}

}  // namespace nova
