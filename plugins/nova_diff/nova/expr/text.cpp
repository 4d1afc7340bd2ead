// SPDX-License-Identifier: Apache-2.0
// The listing of a program.
#include <bit>
#include <sstream>

#include "nova/expr/passes.hpp"

namespace nova {

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
