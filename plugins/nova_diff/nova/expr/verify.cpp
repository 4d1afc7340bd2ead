// SPDX-License-Identifier: Apache-2.0
// Checks that a program is well formed, before anything else looks at it.
#include "nova/expr/passes.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;

template <class... Parts>
void require(bool condition, const Program& program, const Parts&... parts) {
  NOVAPHY_REQUIRE(condition, ErrorKind::value, "program '", program.name.view(),
                  "': ", novaphy::text(parts...));
}

struct Signature {
  ValueType result;
  ValueType operands[3];
};

// clang-format off
Signature signature(const Node& node) {
  using enum ValueType;
  switch (node.op) {
    case Op::less: case Op::less_equal: case Op::equal: return {mask, {f32, f32, f32}};
    case Op::iless: case Op::iless_equal: case Op::iequal: return {mask, {i32, i32, i32}};
    case Op::mask_and: case Op::mask_or: case Op::mask_not: return {mask, {mask, mask, mask}};
    case Op::select: return {node.type, {mask, node.type, node.type}};
    case Op::iadd: case Op::isub: case Op::imul: case Op::iand: case Op::ior: case Op::ixor:
    case Op::idiv: case Op::imod: case Op::shift_left: case Op::shift_right:
      return {i32, {i32, i32, i32}};
    case Op::to_f32: return {f32, {i32, i32, i32}};
    case Op::to_i32: return {i32, {f32, f32, f32}};
    case Op::constant: case Op::input: case Op::reduced: return {node.type, {}};
    default: return {f32, {f32, f32, f32}};
  }
}
// clang-format on

void verify_argument(const Program& program, const Argument& argument) {
  require(argument.columns >= 1, program, "argument '", argument.name.view(), "' has no columns");
  if (argument.reach != Reach::gather) return;
  require(argument.index < program.arguments.size(), program, "argument '", argument.name.view(),
          "' gathers through an index that does not exist");
  const Argument& index = program.arguments[argument.index];
  require(!is_float(index.row) && index.row != Row::flags, program, "index '", index.name.view(),
          "' must be of an integer row type");
  require(static_cast<int>(argument.first_column + argument.columns) <= width_of(index.row), program,
          "argument '", argument.name.view(), "' needs ", argument.first_column + argument.columns,
          " columns of index '", index.name.view(), "', which has ", width_of(index.row));
}

void verify_node(const Program& program, std::size_t at) {
  const Node& node = program.nodes[at];
  const char* const op = name_of(node.op);
  require(op != nullptr, program, "operation ", at, " has the unknown number ", static_cast<int>(node.op));
  const Signature want = signature(node);
  require(want.result == node.type, program, "operation ", at, " (", op, ") has the wrong result type");
  const std::uint32_t operands[3] = {node.a, node.b, node.c};
  for (int k = 0; k < operand_count(node.op); ++k) {
    require(operands[k] < at, program, "operation ", at, " (", op, ") uses operation ", operands[k],
            ", which does not precede it");
    const Node& operand = program.nodes[operands[k]];
    require(operand.type == want.operands[k], program, "operation ", at, " (", op, "): operand ", k,
            " has the wrong type");
    require(operand.stage <= node.stage, program, "operation ", at, " (", op, ") runs before its operand ",
            k);
    require(operand.stage % 2 == 0 || operand.stage == node.stage, program, "operation ", at, " (", op,
            ") uses a value of a loop outside of it");
  }
  if (node.op == Op::input) {
    require(node.a < program.arguments.size(), program, "operation ", at, " reads argument ", node.a,
            ", which does not exist");
    const Argument& argument = program.arguments[node.a];
    require(static_cast<int>(node.b) < argument.columns * width_of(argument.row), program, "operation ", at,
            " reads number ", node.b, " of argument '", argument.name.view(), "'");
    require((node.stage % 2 == 1) == in_loop(program, argument), program, "operation ", at, " reads '",
            argument.name.view(), "' in the wrong stage");
  }
  if (node.op == Op::reduced)
    require(node.a < program.reductions.size() && node.stage > program.reductions[node.a].stage, program,
            "operation ", at, " reads the result of a reduction that has not run");
}

}  // namespace

void verify(const Program& program) {
  require(program.arguments.size() <= Program::kMaxArguments, program, "has ", program.arguments.size(),
          " arguments, ", Program::kMaxArguments, " is the most");
  require(program.nodes.size() <= 65535, program, "has ", program.nodes.size(),
          " operations, 65535 is the most");
  for (const Argument& argument : program.arguments) verify_argument(program, argument);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) verify_node(program, i);
  for (const Output& output : program.outputs) {
    const std::size_t count = static_cast<std::size_t>(output.columns * width_of(output.row));
    require(output.first_value + count <= program.values.size(), program, "output '", output.name.view(),
            "' has no values");
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t value = program.values[output.first_value + k];
      require(value == kNone || value < program.nodes.size(), program, "output '", output.name.view(),
              "' writes an unknown value");
      require(value == kNone || program.nodes[value].type == type_of(output.row), program, "output '",
              output.name.view(), "' writes a value of another type");
    }
  }
  for (const Reduction& reduction : program.reductions)
    require(reduction.init < program.nodes.size() && program.nodes[reduction.init].stage < reduction.stage &&
                reduction.stage % 2 == 1,
            program, "a reduction starts from a value that is not known before its loop");
  for (const ReductionStep& step : program.steps)
    require(step.reduction < program.reductions.size() && step.term < program.nodes.size(), program,
            "a reduction step is incomplete");
}

}  // namespace nova
