// SPDX-License-Identifier: Apache-2.0
#include "aot/write_source.hpp"

#include <sstream>
#include <utility>

#include "novaphy/error.hpp"

namespace nova::aot {
namespace {

using machine::Do;
using machine::From;
using machine::Instruction;
using machine::To;

/// The expression of one operation; $a, $b and $c stand for its operands.
const char* pattern(Do op) {
  // clang-format off
  switch (op) {
    case Do::add: return "$a + $b";
    case Do::sub: return "$a - $b";
    case Do::mul: return "$a * $b";
    case Do::div: return "$a / $b";
    case Do::neg: return "(F)((U)$a ^ 0x80000000u)";
    case Do::abs: return "(F)((U)$a & 0x7FFFFFFFu)";
    case Do::fma: return "fma($a, $b, $c)";
    case Do::sqrt: return "root($a)";
    case Do::min: return "minimum($a, $b)";
    case Do::max: return "maximum($a, $b)";
    case Do::zmul: return "zmul($a, $b)";
    case Do::zdiv: return "zdiv($a, $b)";
    case Do::mul_add: return "$a * $b + $c";
    case Do::mul_sub: return "$a * $b - $c";
    case Do::sub_mul: return "$c - $a * $b";
    case Do::less: return "(F)($a < $b)";
    case Do::less_equal: return "(F)($a <= $b)";
    case Do::equal: return "(F)($a == $b)";
    case Do::iless: return "(F)((I)$a < (I)$b)";
    case Do::iless_equal: return "(F)((I)$a <= (I)$b)";
    case Do::iequal: return "(F)((I)$a == (I)$b)";
    case Do::mask_and: case Do::iand: return "(F)((U)$a & (U)$b)";
    case Do::mask_or: case Do::ior: return "(F)((U)$a | (U)$b)";
    case Do::mask_not: return "(F)~(U)$a";
    case Do::ixor: return "(F)((U)$a ^ (U)$b)";
    case Do::select: return "(I)$a ? $b : $c";
    case Do::iadd: return "(F)((U)$a + (U)$b)";
    case Do::isub: return "(F)((U)$a - (U)$b)";
    case Do::imul: return "(F)((U)$a * (U)$b)";
    case Do::copy: return "$a";
    case Do::add_if: return "(I)$c ? $a + $b : $a";
    case Do::sub_if: return "(I)$c ? $a - $b : $a";
    case Do::idiv: return "quotient($a, $b)";
    case Do::imod: return "rest($a, $b)";
    case Do::shift_left: return "(F)((U)$a << ((U)$b & 31u))";
    case Do::shift_right: return "(F)((I)$a >> ((I)$b & 31))";
    case Do::floor: return "lower($a)";
    case Do::to_f32: return "__builtin_convertvector((I)$a, F)";
    case Do::to_i32: return "integers($a)";
    case Do::sin: return "call<Sin>($a)";
    case Do::cos: return "call<Cos>($a)";
    case Do::tan: return "call<Tan>($a)";
    case Do::asin: return "call<Asin>($a)";
    case Do::acos: return "call<Acos>($a)";
    case Do::atan2: return "call<Atan2>($a, $b)";
    case Do::exp: return "call<Exp>($a)";
    case Do::log: return "call<Log>($a)";
    case Do::pow: return "call<Pow>($a, $b)";
    case Do::tanh: return "call<Tanh>($a)";
  }
  return "";
  // clang-format on
}

class Writer {
 public:
  Writer(const Code& code, const char* program) : code_(code), program_(program) {}
  std::string text(const std::string& name);

 private:
  void constants();
  void load(const machine::Load& l);
  void load_bytes(const machine::Load& l);
  void instruction(const Instruction& x);
  std::uint32_t stores(std::uint32_t first, std::uint32_t end);
  void store(const machine::Store& s);
  void corner(std::size_t at);
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
  if (l.bytes) return load_bytes(l);
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
    case From::gather_pair:
      if (l.from == From::gather_row && code_.patch_index != kNone) {
        out_ << "read_patch<" << count << ">(" << l.table << ", " << static_cast<int>(l.local);
        break;
      }
      out_ << (l.from == From::gather_row ? "read_gather<" : "read_gather_pair<") << count << ">(" << argument
           << ", " << width << ", " << component << ", " << static_cast<int>(l.index) << ", "
           << static_cast<int>(l.index_width) << ", " << static_cast<int>(l.index_column);
      break;
  }
  out_ << ", q);\n ";
  for (int j = 0; j < 4; ++j)
    if (l.reg[j] != machine::kNoRegister) out_ << " " << r(l.reg[j]) << " = q[" << j << "];";
  out_ << "\n";
}

void Writer::load_bytes(const machine::Load& l) {
  const char* from = "row";
  switch (l.from) {
    case From::row:
      break;
    case From::pair:
      from = "pair";
      break;
    case From::value:
    case From::uniform:
      from = "uniform";
      break;
    case From::domain:
      from = "domain";
      break;
    case From::gather_row:
      from = "gather";
      break;
    case From::gather_pair:
      from = "gather_pair";
      break;
  }
  out_ << "read_" << from << "_bytes(" << static_cast<int>(l.argument);
  if (l.from == From::gather_row || l.from == From::gather_pair)
    out_ << ", " << static_cast<int>(l.index) << ", " << static_cast<int>(l.index_width) << ", "
         << static_cast<int>(l.index_column);
  out_ << ", q);\n  " << r(l.reg[0]) << " = q[0];\n";
}

void Writer::instruction(const Instruction& x) {
  std::string expression = pattern(x.op);
  const std::pair<const char*, std::uint32_t> operands[] = {{"$a", x.a}, {"$b", x.b}, {"$c", x.c}};
  for (const auto& [mark, reg] : operands)
    for (std::size_t at; (at = expression.find(mark)) != std::string::npos;)
      expression.replace(at, 2, r(reg));
  out_ << "  " << r(x.d) << " = " << expression << ";\n";
}

// Numbers of one row that are set side by side are written together; returns how many.
std::uint32_t Writer::stores(std::uint32_t first, std::uint32_t end) {
  const machine::Store& s = code_.stores[first];
  std::uint32_t count = 1;
  const auto follows = [&](const machine::Store& next) {
    return next.to == To::set && next.output == s.output && next.component == s.component + count;
  };
  while (s.to == To::set && count < 4 && first + count < end && follows(code_.stores[first + count])) ++count;
  if (count == 1) return store(s), count;
  out_ << "  k.set_row<" << count << ">(" << static_cast<int>(s.output) << ", " << static_cast<int>(s.width)
       << ", " << s.component;
  for (std::uint32_t k = 0; k < count; ++k) out_ << ", " << r(code_.stores[first + k].reg);
  out_ << ");\n";
  return count;
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
      how = "stage_pair";
      break;
  }
  out_ << "  k." << how << "(";
  if (s.to == To::sum_row || s.to == To::sum_loop || s.to == To::staged_loop)
    out_ << s.slot;
  else
    out_ << static_cast<int>(s.output) << ", " << static_cast<int>(s.width) << ", " << s.component;
  out_ << ", " << r(s.reg) << ");\n";
}

void Writer::corner(std::size_t at) {
  const machine::Corner& c = code_.corners[at];
  if (code_.patch_index != kNone)
    out_ << "  k.corner(" << c.piece << ", " << static_cast<int>(c.column) << ", " << code_.columns;
  else
    out_ << "  k.stage_corner(" << at;
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
    for (std::uint32_t i = part.stores; i < part.stores_end;) i += stores(i, part.stores_end);
    if (loop) out_ << "  }\n";
  }
  for (std::size_t at = 0; at < code_.corners.size(); ++at) corner(at);
  out_ << "  }\n}\n";
  return out_.str();
}

}  // namespace

std::string function_text(const Code& code, const char* program, const std::string& name) {
  return Writer(code, program).text(name);
}

std::string row_function_text(Code code, const char* program, const std::string& name) {
  const auto is_idle = [](const machine::Stage& s) {
    return s.code == s.code_end && s.stores == s.stores_end;
  };
  bool alone = code.sums.empty() && code.corners.empty() && code.pair_scatters.empty();
  for (std::size_t k = 1; k < code.stages.size(); k += 2) alone &= is_idle(code.stages[k]);
  NOVAPHY_REQUIRE(alone, novaphy::ErrorKind::unsupported_feature, "novaphy_generate_kernels: kernel '",
                  program, "' sums, scatters or loops; a row kernel writes its own rows alone");
  code.patch_index = kNone;  // the function sees no patches: it gathers from the arrays
  const std::string inner = "run_" + name;
  return function_text(code, program, inner) + "void " + name +
         "(const void* const* arguments, void* const* outputs, std::int64_t begin, std::int64_t end) {\n  " +
         inner + "({.arguments = arguments, .outputs = outputs, .rows = end}, {}, begin, end);\n}\n";
}

}  // namespace nova::aot
