// SPDX-License-Identifier: Apache-2.0
// Names of operations and the listing of a program.
#include <bit>
#include <sstream>

#include "nova/expr/passes.hpp"

namespace nova {

// clang-format off
const char* name_of(Op op) noexcept {
  switch (op) {
    case Op::constant: return "constant";
    case Op::input: return "input";
    case Op::reduced: return "reduced";
    case Op::add: return "add";
    case Op::sub: return "sub";
    case Op::mul: return "mul";
    case Op::div: return "div";
    case Op::neg: return "neg";
    case Op::fma: return "fma";
    case Op::sqrt: return "sqrt";
    case Op::abs: return "abs";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::zmul: return "zmul";
    case Op::zdiv: return "zdiv";
    case Op::mul_add: return "mul_add";
    case Op::mul_sub: return "mul_sub";
    case Op::sub_mul: return "sub_mul";
    case Op::floor: return "floor";
    case Op::sin: return "sin";
    case Op::cos: return "cos";
    case Op::tan: return "tan";
    case Op::asin: return "asin";
    case Op::acos: return "acos";
    case Op::atan2: return "atan2";
    case Op::exp: return "exp";
    case Op::log: return "log";
    case Op::pow: return "pow";
    case Op::tanh: return "tanh";
    case Op::to_f32: return "to_f32";
    case Op::less: return "less";
    case Op::less_equal: return "less_equal";
    case Op::equal: return "equal";
    case Op::iless: return "iless";
    case Op::iless_equal: return "iless_equal";
    case Op::iequal: return "iequal";
    case Op::mask_and: return "mask_and";
    case Op::mask_or: return "mask_or";
    case Op::mask_not: return "mask_not";
    case Op::select: return "select";
    case Op::iadd: return "iadd";
    case Op::isub: return "isub";
    case Op::imul: return "imul";
    case Op::iand: return "iand";
    case Op::ior: return "ior";
    case Op::ixor: return "ixor";
    case Op::idiv: return "idiv";
    case Op::imod: return "imod";
    case Op::shift_left: return "shift_left";
    case Op::shift_right: return "shift_right";
    case Op::to_i32: return "to_i32";
  }
  return nullptr;
}
// clang-format on

// clang-format off
int operand_count(Op op) noexcept {
  switch (op) {
    case Op::constant: case Op::input: case Op::reduced: return 0;
    case Op::neg: case Op::sqrt: case Op::abs: case Op::mask_not: case Op::floor: case Op::sin: case Op::cos:
    case Op::tan: case Op::asin: case Op::acos: case Op::exp: case Op::log: case Op::tanh: case Op::to_f32:
    case Op::to_i32:
      return 1;
    case Op::fma: case Op::select: case Op::mul_add: case Op::mul_sub: case Op::sub_mul: return 3;
    default: return 2;
  }
}
// clang-format on

std::string listing(const Program& program) {
  std::ostringstream out;
  out << "program " << program.name.view() << "\n";
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    out << "  [" << static_cast<int>(node.stage) << "] %" << i << " = " << name_of(node.op);
    if (node.op == Op::constant && node.type == ValueType::f32)
      out << " " << std::bit_cast<float>(node.a);
    else if (node.op == Op::constant)
      out << " " << static_cast<std::int32_t>(node.a);
    else if (node.op == Op::input)
      out << " " << program.arguments[node.a].name.view() << "." << node.b;
    else if (node.op == Op::reduced)
      out << " r" << node.a;
    const std::uint32_t operands[3] = {node.a, node.b, node.c};
    for (int k = 0; k < operand_count(node.op); ++k) out << " %" << operands[k];
    out << "\n";
  }
  for (std::size_t k = 0; k < program.reductions.size(); ++k)
    out << "  reduction r" << k << " in stage " << program.reductions[k].stage << " from %"
        << program.reductions[k].init << "\n";
  for (const ReductionStep& step : program.steps) {
    out << "  r" << step.reduction << (step.subtract ? " -= %" : " += %") << step.term;
    if (step.mask != kNone) out << " where %" << step.mask;
    out << "\n";
  }
  for (const Output& output : program.outputs) {
    out << "  " << output.name.view() << " =";
    for (int k = 0; k < output.columns * width_of(output.row); ++k) {
      const std::uint32_t value = program.values[output.first_value + static_cast<std::uint32_t>(k)];
      if (value == kNone)
        out << " -";
      else
        out << " %" << value;
    }
    out << "\n";
  }
  return std::move(out).str();
}

}  // namespace nova
