// SPDX-License-Identifier: Apache-2.0
#include "aot/write_source.hpp"

#include <sstream>
#include <string_view>

#include "novaphy/error.hpp"

namespace nova::aot {
namespace {

using machine::Do;
using machine::From;
using machine::Instruction;
using machine::To;

/// The expression of one operation; A, B and C stand for its operands.
const char* pattern(Do op) {
  // clang-format off
  switch (op) {
    case Do::add: return "A + B";
    case Do::sub: return "A - B";
    case Do::mul: return "A * B";
    case Do::div: return "A / B";
    case Do::neg: return "(F)((U)A ^ 0x80000000u)";
    case Do::abs: return "(F)((U)A & 0x7FFFFFFFu)";
    case Do::fma: return "fma(A, B, C)";
    case Do::sqrt: return "root(A)";
    case Do::min: return "minimum(A, B)";
    case Do::max: return "maximum(A, B)";
    case Do::zmul: return "zmul(A, B)";
    case Do::zdiv: return "zdiv(A, B)";
    case Do::mul_add: return "A * B + C";
    case Do::mul_sub: return "A * B - C";
    case Do::sub_mul: return "C - A * B";
    case Do::less: return "(F)(A < B)";
    case Do::less_equal: return "(F)(A <= B)";
    case Do::equal: return "(F)(A == B)";
    case Do::iless: return "(F)((I)A < (I)B)";
    case Do::iless_equal: return "(F)((I)A <= (I)B)";
    case Do::iequal: return "(F)((I)A == (I)B)";
    case Do::mask_and: case Do::iand: return "(F)((U)A & (U)B)";
    case Do::mask_or: case Do::ior: return "(F)((U)A | (U)B)";
    case Do::mask_not: return "(F)~(U)A";
    case Do::ixor: return "(F)((U)A ^ (U)B)";
    case Do::select: return "(I)A ? B : C";
    case Do::iadd: return "(F)((U)A + (U)B)";
    case Do::isub: return "(F)((U)A - (U)B)";
    case Do::imul: return "(F)((U)A * (U)B)";
    case Do::copy: return "A";
    case Do::add_if: return "(I)C ? A + B : A";
    case Do::sub_if: return "(I)C ? A - B : A";
    default: return nullptr;
  }
  // clang-format on
}

class Writer {
 public:
  Writer(const Code& code, const char* program) : code_(code), program_(program) {}
  std::string text(const std::string& name);

 private:
  void constants();
  void load(const machine::Load& l);
  void instruction(const Instruction& x);
  void store(const machine::Store& s);
  void corner(const machine::Corner& c);
  [[noreturn]] void refuse(const char* what) const {
    novaphy::fail(novaphy::ErrorKind::unsupported_feature, "novaphy_generate_kernels: program '", program_,
                  "' has ", what, ", which compiled kernels do not have; leave it to the interpreter");
  }
  static std::string r(std::uint32_t reg) { return "r" + std::to_string(reg); }

  const Code& code_;
  const char* const program_;
  std::ostringstream out_;
};

void Writer::constants() {
  for (const machine::Constant& c : code_.constants)
    out_ << "  " << r(c.reg) << " = constant(" << c.bits << "u);\n";
  if (code_.uniforms.empty()) return;
  out_ << "  {\n  const Block k(b, view, begin, end);\n";
  for (const machine::Load& l : code_.uniforms) load(l);
  out_ << "  }\n";
}

void Writer::load(const machine::Load& l) {
  const auto argument = static_cast<int>(l.argument), width = static_cast<int>(l.width);
  const auto component = static_cast<int>(l.component), count = static_cast<int>(l.count);
  out_ << "  k.";
  switch (l.from) {
    case From::row:
      out_ << "read_row<" << count << ">(" << argument << ", " << width << ", " << component;
      break;
    case From::pair:
      out_ << "read_pair<" << count << ">(" << argument << ", " << width << ", " << component;
      break;
    case From::value:
    case From::uniform:
      out_ << "read_uniform<" << count << ">(" << argument << ", " << component;
      break;
    case From::domain:
      out_ << "read_domain<" << count << ">(" << argument << ", " << width << ", " << component;
      break;
    case From::gather_row:
      if (code_.patch_index == kNone) refuse("gathers through several indices");
      out_ << "read_patch<" << count << ">(" << l.table << ", " << static_cast<int>(l.local);
      break;
    case From::gather_pair:
      out_ << "read_gather_pair<" << count << ">(" << argument << ", " << width << ", " << component << ", "
           << static_cast<int>(l.index) << ", " << static_cast<int>(l.index_width) << ", "
           << static_cast<int>(l.index_column);
      break;
  }
  out_ << ", q);\n ";
  for (int j = 0; j < 4; ++j)
    if (l.reg[j] != machine::kNoRegister) out_ << " " << r(l.reg[j]) << " = q[" << j << "];";
  out_ << "\n";
}

void Writer::instruction(const Instruction& x) {
  const char* const expression = pattern(x.op);
  if (expression == nullptr) refuse("an operation that is more than a few instructions");
  out_ << "  " << r(x.d) << " = ";
  for (const char c : std::string_view(expression))
    out_ << (c == 'A' ? r(x.a) : c == 'B' ? r(x.b) : c == 'C' ? r(x.c) : std::string(1, c));
  out_ << ";\n";
}

void Writer::store(const machine::Store& s) {
  const char* how = nullptr;
  switch (s.to) {
    case To::set:
      how = "set";
      break;
    case To::add:
      how = "add";
      break;
    case To::add_pair:
      how = "add_pair";
      break;
    case To::sum_row:
      how = "sum_row";
      break;
    case To::sum_loop:
      how = "sum_loop";
      break;
    case To::staged_loop:
      refuse("a scatter inside of a loop");
  }
  out_ << "  k." << how << "(";
  if (s.to == To::sum_row || s.to == To::sum_loop)
    out_ << s.slot;
  else
    out_ << static_cast<int>(s.output) << ", " << static_cast<int>(s.width) << ", " << s.component;
  out_ << ", " << r(s.reg) << ");\n";
}

void Writer::corner(const machine::Corner& c) {
  if (code_.patch_index == kNone) refuse("scatters through several indices");
  out_ << "  k.corner(" << c.piece << ", " << static_cast<int>(c.column) << ", " << code_.columns;
  for (const std::uint16_t reg : c.reg)
    out_ << ", " << (reg != machine::kNoRegister ? r(reg) : c.negative_zero ? "negative_zero" : "zero");
  out_ << ");\n";
}

std::string Writer::text(const std::string& name) {
  out_ << "// " << program_ << "\nvoid " << name
       << "(const Binding& b, const PatchView& view, std::int64_t begin, std::int64_t end) {\n"
          "  [[maybe_unused]] F q[4], zero{}, negative_zero = constant(0x80000000u);\n";
  if (code_.registers > 0) out_ << "  F ";
  for (std::uint32_t k = 0; k < code_.registers; ++k) out_ << (k == 0 ? "" : ", ") << r(k);
  if (code_.registers > 0) out_ << ";\n";
  constants();
  out_ << "  for (std::int64_t row = begin; row < end; row += kLanes) {\n  Block k(b, view, row, end);\n";
  for (std::size_t stage = 0; stage < code_.stages.size(); ++stage) {
    const machine::Stage& part = code_.stages[stage];
    const bool loop = stage % 2 == 1;
    if (loop && part.code == part.code_end && part.stores == part.stores_end) continue;
    if (loop) out_ << "  for (k.s = 0; k.s < b.domain; ++k.s) {\n";
    for (std::uint32_t i = part.loads; i < part.loads_end; ++i) load(code_.loads[i]);
    for (std::uint32_t i = part.code; i < part.code_end; ++i) instruction(code_.code[i]);
    for (std::uint32_t i = part.stores; i < part.stores_end; ++i) store(code_.stores[i]);
    if (loop) out_ << "  }\n";
  }
  for (const machine::Corner& c : code_.corners) corner(c);
  out_ << "  }\n}\n";
  return out_.str();
}

}  // namespace

std::string function_text(const Code& code, const char* program, const std::string& name) {
  return Writer(code, program).text(name);
}

}  // namespace nova::aot
