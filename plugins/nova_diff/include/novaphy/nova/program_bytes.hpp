// SPDX-License-Identifier: Apache-2.0
// A program as bytes, the form in which it passes between libraries that share no types. Header only.
//
// Little endian, every table 8-byte aligned:
//   header     "NVIR", u16 major, u16 minor, u32 bytes in all, u32 0, char name[64],
//              u32 entries of each table below, in their order
//   arguments  char name[64], u8 row, u8 reach, u8 columns, u8 bits (1 differentiable, 2 static),
//              u32 index, u32 first column, u32 0
//   nodes      u8 operation, u8 type, u8 stage, u8 0, u32 a, u32 b, u32 c
//   outputs    char name[64], u8 row, u8 write, u8 reach, u8 columns, u8 stage, u8 0, u8 0, u8 0,
//              u32 index, u32 first column, u32 first value, u32 0
//   values     u32 node
//   reductions u32 start, u32 stage
//   steps      u32 reduction, u32 term, u32 mask, u32 subtract
// Numbers mean what program.hpp says; 0xFFFFFFFF is kNone. Magic, version, size and name stay where they are
// in every version, so that an old reader can name the program that it does not know. A new operation raises
// the minor number; numbers of operations are never used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "novaphy/nova/program.hpp"

namespace nova {

/// The version that this header writes. A reader takes its own major number up to its own minor number.
inline constexpr std::uint16_t kIrMajor = 1, kIrMinor = 0;

/// Sizes of the byte form.
struct ProgramLayout {
  static constexpr std::string_view kMagic = "NVIR";
  static constexpr std::size_t kTables = 6, kName = 64, kHeader = 16 + kName + 4 * kTables;
  /// Bytes of an entry: arguments, nodes, outputs, values, reductions, steps.
  static constexpr std::size_t kEntry[kTables] = {kName + 16, 16, kName + 24, 4, 8, 16};
};
static_assert(ProgramLayout::kHeader % 8 == 0);

/// Appends numbers to a byte string, lowest byte first.
class ByteWriter {
 public:
  ByteWriter& u8(std::uint32_t value) {
    bytes_.push_back(static_cast<std::byte>(value & 0xFFu));
    return *this;
  }
  ByteWriter& u16(std::uint32_t value) { return u8(value).u8(value >> 8); }
  ByteWriter& u32(std::uint32_t value) { return u16(value).u16(value >> 16); }
  ByteWriter& name(const Name& name) {
    for (const char c : name.characters) u8(static_cast<unsigned char>(c));
    return *this;
  }
  void align() {
    while (bytes_.size() % 8 != 0) u8(0);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

namespace detail {

inline std::size_t byte_size(std::span<const std::uint32_t> counts) {
  std::size_t size = ProgramLayout::kHeader;
  for (std::size_t k = 0; k < ProgramLayout::kTables; ++k)
    size += (counts[k] * ProgramLayout::kEntry[k] + 7) / 8 * 8;
  return size;
}

inline void write_tables(ByteWriter& out, const Program& program) {
  for (const Argument& a : program.arguments)
    out.name(a.name)
        .u8(static_cast<std::uint32_t>(a.row))
        .u8(static_cast<std::uint32_t>(a.reach))
        .u8(a.columns)
        .u8((a.differentiable ? 1u : 0u) | (a.is_static ? 2u : 0u))
        .u32(a.index)
        .u32(a.first_column)
        .u32(0);
  for (const Node& n : program.nodes)
    out.u8(static_cast<std::uint32_t>(n.op))
        .u8(static_cast<std::uint32_t>(n.type))
        .u16(n.stage)
        .u32(n.a)
        .u32(n.b)
        .u32(n.c);
  for (const Output& o : program.outputs)
    out.name(o.name)
        .u8(static_cast<std::uint32_t>(o.row))
        .u8(static_cast<std::uint32_t>(o.write))
        .u8(static_cast<std::uint32_t>(o.reach))
        .u8(o.columns)
        .u32(o.stage)
        .u32(o.index)
        .u32(o.first_column)
        .u32(o.first_value)
        .u32(0);
  for (const std::uint32_t value : program.values) out.u32(value);
  out.align();
  for (const Reduction& r : program.reductions) out.u32(r.init).u32(r.stage);
  for (const ReductionStep& s : program.steps) out.u32(s.reduction).u32(s.term).u32(s.mask).u32(s.subtract);
}

}  // namespace detail

/// The bytes of a program, as novaphy::INova::compile() takes them.
inline std::vector<std::byte> serialize(const Program& program) {
  const auto count = [](const auto& table) { return static_cast<std::uint32_t>(table.size()); };
  const std::uint32_t counts[ProgramLayout::kTables] = {count(program.arguments),  count(program.nodes),
                                                        count(program.outputs),    count(program.values),
                                                        count(program.reductions), count(program.steps)};
  ByteWriter out;
  for (const char c : ProgramLayout::kMagic) out.u8(static_cast<unsigned char>(c));
  out.u16(kIrMajor).u16(kIrMinor).u32(static_cast<std::uint32_t>(detail::byte_size(counts))).u32(0);
  out.name(program.name);
  for (const std::uint32_t entries : counts) out.u32(entries);
  detail::write_tables(out, program);
  return out.take();
}

}  // namespace nova
