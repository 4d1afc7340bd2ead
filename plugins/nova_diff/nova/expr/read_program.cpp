// SPDX-License-Identifier: Apache-2.0
// A program from its bytes, which anybody may have written: nothing is read that is not there.
#include <algorithm>
#include <array>

#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/program_bytes.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using Layout = ProgramLayout;

/// Reads numbers, lowest byte first. The caller has checked that they are there.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint8_t u8() { return static_cast<std::uint8_t>(bytes_[at_++]); }
  std::uint32_t u16() {
    const std::uint32_t low = u8();
    return low | static_cast<std::uint32_t>(u8()) << 8;
  }
  std::uint32_t u32() {
    const std::uint32_t low = u16();
    return low | u16() << 16;
  }
  Name name() {
    Name out;
    for (char& c : out.characters) c = static_cast<char>(u8());
    return out;
  }
  void align() { at_ = (at_ + 7) / 8 * 8; }
  void skip(std::size_t count) { at_ += count; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

using Counts = std::array<std::uint32_t, Layout::kTables>;

/// As much of the name as can be shown: up to its end, printable characters alone.
std::string shown(const Name& name) {
  std::string out;
  for (const char c : name.characters) {
    if (c == 0) break;
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out;
}

Counts read_header(std::span<const std::byte> bytes, Program& program) {
  constexpr const char* kWhat = "nova: these bytes are no program: ";
  NOVAPHY_REQUIRE(bytes.size() >= Layout::kHeader, ErrorKind::value, kWhat, "there are ", bytes.size(),
                  ", and a program begins with ", Layout::kHeader, "; write them with nova::serialize");
  for (std::size_t k = 0; k < Layout::kMagic.size(); ++k)
    NOVAPHY_REQUIRE(static_cast<char>(bytes[k]) == Layout::kMagic[k], ErrorKind::value, kWhat,
                    "they do not begin with NVIR; write them with nova::serialize");
  ByteReader in(bytes);
  in.skip(Layout::kMagic.size());
  const std::uint32_t major = in.u16(), minor = in.u16(), size = in.u32(), reserved = in.u32();
  program.name = in.name();
  const std::string name = shown(program.name);
  NOVAPHY_REQUIRE(major == kIrMajor && minor <= kIrMinor, ErrorKind::unsupported_feature, "program '", name,
                  "' needs Nova IR ", major, ".", minor, ", this is ", kIrMajor, ".", kIrMinor);
  NOVAPHY_REQUIRE(size == bytes.size() && reserved == 0, ErrorKind::value, "program '", name, "': it has ",
                  size, " bytes, ", bytes.size(), " were given");
  Counts counts;
  for (std::uint32_t& count : counts) count = in.u32();
  NOVAPHY_REQUIRE(detail::byte_size(counts) == size, ErrorKind::value, "program '", name,
                  "': its tables want ", detail::byte_size(counts), " bytes, it has ", size);
  return counts;
}

void read_arguments(ByteReader& in, Program& program) {
  for (Argument& a : program.arguments) {
    a.name = in.name();
    a.row = static_cast<Row>(in.u8()), a.reach = static_cast<Reach>(in.u8()), a.columns = in.u8();
    const std::uint8_t bits = in.u8();
    a.differentiable = (bits & 1) != 0, a.is_static = (bits & 2) != 0;
    a.index = in.u32(), a.first_column = in.u32();
    in.skip(4);
  }
}

void read_nodes(ByteReader& in, Program& program) {
  for (Node& n : program.nodes) {
    n.op = static_cast<Op>(in.u8()), n.type = static_cast<ValueType>(in.u8()), n.stage = in.u8();
    in.skip(1);
    n.a = in.u32(), n.b = in.u32(), n.c = in.u32();
  }
}

void read_outputs(ByteReader& in, Program& program) {
  for (Output& o : program.outputs) {
    o.name = in.name();
    o.row = static_cast<Row>(in.u8()), o.write = static_cast<Write>(in.u8());
    o.reach = static_cast<Reach>(in.u8()), o.columns = in.u8(), o.stage = in.u8();
    in.skip(3);
    o.index = in.u32(), o.first_column = in.u32(), o.first_value = in.u32();
    in.skip(4);
  }
}

void read_sums(ByteReader& in, Program& program) {
  for (std::uint32_t& value : program.values) value = in.u32();
  in.align();
  for (Reduction& r : program.reductions) r.init = in.u32(), r.stage = in.u32();
  for (ReductionStep& s : program.steps)
    s.reduction = in.u32(), s.term = in.u32(), s.mask = in.u32(), s.subtract = in.u32();
}

}  // namespace

Program deserialize(std::span<const std::byte> bytes) {
  Program program;
  const Counts counts = read_header(bytes, program);
  program.arguments.resize(counts[0]), program.nodes.resize(counts[1]), program.outputs.resize(counts[2]);
  program.values.resize(counts[3]), program.reductions.resize(counts[4]), program.steps.resize(counts[5]);
  ByteReader in(bytes);
  in.skip(Layout::kHeader);
  read_arguments(in, program);
  read_nodes(in, program);
  read_outputs(in, program);
  read_sums(in, program);
  return program;
}

}  // namespace nova
