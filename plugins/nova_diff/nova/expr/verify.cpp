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

constexpr int kLastStage = 4;  // of an adjoint

/// The end of a run of columns, where the sum of both could overflow.
std::uint64_t end_of(std::uint32_t first, std::uint64_t count) {
  return first + count;
}

// An index array through which an argument or output of `columns` columns reaches its rows.
void verify_index(const Program& program, const Name& user, std::uint32_t at, std::uint32_t first_column,
                  int columns) {
  require(at < program.arguments.size(), program, "'", user.view(),
          "' goes through an index that does not exist");
  const Argument& index = program.arguments[at];
  require(index.row >= Row::i32 && index.row <= Row::ivec4, program, "index '", index.name.view(),
          "' must be of an int32 row type");
  require(index.reach == Reach::row || index.reach == Reach::pair, program, "index '", index.name.view(),
          "' must have one row for each row or each pair");
  const std::uint64_t end = end_of(first_column, static_cast<std::uint64_t>(columns));
  require(end <= static_cast<std::uint64_t>(width_of(index.row)), program, "'", user.view(), "' needs ", end,
          " columns of index '", index.name.view(), "', which has ", width_of(index.row));
}

bool is_known(const Name& name) {
  return name.characters.back() == 0;
}

void verify_argument_kinds(const Program& program, const Argument& argument) {
  require(is_known(argument.name), program, "the name of an argument does not end");
  require(argument.row <= kLastRow && argument.reach <= Reach::gather, program, "argument '",
          argument.name.view(), "' has an unknown row type or reach");
}

void verify_argument(const Program& program, const Argument& argument) {
  const bool gathers = argument.reach == Reach::gather;
  require(argument.columns >= 1 && (gathers || argument.columns == 1), program, "argument '",
          argument.name.view(), "' has ", static_cast<int>(argument.columns), " columns");
  require(argument.reach != Reach::value || width_of(argument.row) == 1, program, "argument '",
          argument.name.view(), "' is a value and has more than one number");
  require(argument.reach != Reach::value || argument.row != Row::u8, program, "argument '",
          argument.name.view(), "' is a value; of the row type u8 are arrays only");
  if (gathers) verify_index(program, argument.name, argument.index, argument.first_column, argument.columns);
}

// A value is known where it is used: in its own stage, or later when it is not of a loop.
bool is_known_in(const Node& value, std::uint32_t stage) {
  return value.stage == stage || (value.stage % 2 == 0 && value.stage < stage);
}

void verify_leaf(const Program& program, std::size_t at) {
  const Node& node = program.nodes[at];
  if (node.op == Op::constant)
    require(node.type != ValueType::mask || node.a == 0 || node.a == ~0u, program, "operation ", at,
            " is a mask that is neither true nor false");
  if (node.op == Op::input) {
    require(node.a < program.arguments.size(), program, "operation ", at, " reads argument ", node.a,
            ", which does not exist");
    const Argument& argument = program.arguments[node.a];
    require(node.b < static_cast<std::uint32_t>(argument.columns * width_of(argument.row)), program,
            "operation ", at, " reads number ", node.b, " of argument '", argument.name.view(), "'");
    require(node.type == type_of(argument.row), program, "operation ", at, " reads '", argument.name.view(),
            "' as another type");
    require((node.stage % 2 == 1) == in_loop(program, argument), program, "operation ", at, " reads '",
            argument.name.view(), "' in the wrong stage");
  }
  if (node.op == Op::reduced)
    require(node.a < program.reductions.size() && node.type == ValueType::f32 && node.stage % 2 == 0 &&
                node.stage > program.reductions[node.a].stage,
            program, "operation ", at, " reads the result of a reduction that has not run");
}

void verify_node(const Program& program, std::size_t at) {
  const Node& node = program.nodes[at];
  const char* const op = name_of(node.op);
  require(op != nullptr, program, "operation ", at, " has the unknown number ", static_cast<int>(node.op));
  require(node.op != Op::mul_add && node.op != Op::mul_sub && node.op != Op::sub_mul, program, "operation ",
          at, " (", op, ") is made by lowering only");
  require(node.type <= ValueType::mask && node.stage <= kLastStage, program, "operation ", at, " (", op,
          ") has an unknown type or stage");
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
    require(is_known_in(operand, node.stage), program, "operation ", at, " (", op,
            ") uses a value of a loop outside of it");
  }
  for (int k = operand_count(node.op); k < 3; ++k)
    require(operand_count(node.op) == 0 || operands[k] == kNone, program, "operation ", at, " (", op,
            ") has an operand too many");
  verify_leaf(program, at);
}

// What can be written how, and when.
bool fits(const Program& program, const Output& o) {
  const bool loop = o.stage % 2 == 1;
  switch (o.write) {
    case Write::set:
      return o.reach == Reach::row && !loop;
    case Write::sum:
      return o.reach == Reach::uniform && !loop;
    case Write::add:
      return o.reach == Reach::row || o.reach == Reach::uniform ? !loop : loop && o.reach != Reach::gather;
    case Write::scatter_add:
    case Write::scatter_sub:
      break;
  }
  if (o.reach != Reach::gather) return false;
  const bool pair = program.arguments[o.index].reach == Reach::pair;
  return pair == loop && (!pair || o.write == Write::scatter_add);
}

void verify_output(const Program& program, const Output& output) {
  require(is_known(output.name), program, "the name of an output does not end");
  require(output.row <= kLastRow && output.write <= Write::sum && output.reach <= Reach::gather &&
              output.reach != Reach::value && output.stage <= kLastStage,
          program, "output '", output.name.view(),
          "' has an unknown row type, reach, stage or way of writing");
  require(output.row != Row::u8, program, "output '", output.name.view(),
          "' is of the row type u8, which is only read");
  const bool scatters = output.reach == Reach::gather;
  require(output.columns >= 1 && (scatters || output.columns == 1), program, "output '", output.name.view(),
          "' has ", static_cast<int>(output.columns), " columns");
  if (scatters) verify_index(program, output.name, output.index, output.first_column, output.columns);
  require(fits(program, output), program, "output '", output.name.view(),
          "' cannot be written this way from its stage");
  require(is_float(output.row) || output.write == Write::set, program, "output '", output.name.view(),
          "' is of an integer row type and can only be set");
  const auto count = static_cast<std::uint32_t>(output.columns * width_of(output.row));
  require(end_of(output.first_value, count) <= program.values.size(), program, "output '", output.name.view(),
          "' has no values");
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t value = program.values[output.first_value + k];
    if (value == kNone) continue;
    const Node& node = program.nodes[value];
    require(node.type == type_of(output.row), program, "output '", output.name.view(),
            "' writes a value of another type");
    require(output.stage % 2 == 1 ? is_known_in(node, output.stage) : node.stage % 2 == 0, program,
            "output '", output.name.view(), "' writes a value of a loop outside of it");
  }
}

void verify_reductions(const Program& program) {
  const auto is_real = [&](std::uint32_t node) {
    return node < program.nodes.size() && program.nodes[node].type == ValueType::f32;
  };
  for (const Reduction& reduction : program.reductions)
    require(reduction.stage % 2 == 1 && reduction.stage < kLastStage && is_real(reduction.init) &&
                program.nodes[reduction.init].stage != reduction.stage &&
                is_known_in(program.nodes[reduction.init], reduction.stage),
            program, "a reduction starts from a value that is not known before its loop");
  for (const ReductionStep& step : program.steps) {
    require(step.reduction < program.reductions.size() && is_real(step.term) && step.subtract <= 1, program,
            "a reduction step is incomplete");
    const std::uint32_t stage = program.reductions[step.reduction].stage;
    require(is_known_in(program.nodes[step.term], stage), program,
            "a reduction step adds a value that its loop does not know");
    if (step.mask == kNone) continue;
    require(step.mask < program.nodes.size() && program.nodes[step.mask].type == ValueType::mask &&
                is_known_in(program.nodes[step.mask], stage),
            program, "a reduction step asks a mask that its loop does not know");
  }
}

}  // namespace

void verify(const Program& program) {
  NOVAPHY_REQUIRE(is_known(program.name), ErrorKind::value, "a program's name does not end");
  require(program.arguments.size() <= Program::kMaxArguments, program, "has ", program.arguments.size(),
          " arguments, ", Program::kMaxArguments, " is the most");
  require(program.outputs.size() <= Program::kMaxArguments, program, "has ", program.outputs.size(),
          " outputs, ", Program::kMaxArguments, " is the most");
  require(program.nodes.size() <= 65535, program, "has ", program.nodes.size(),
          " operations, 65535 is the most");
  for (const Argument& argument : program.arguments) verify_argument_kinds(program, argument);
  for (const Argument& argument : program.arguments) verify_argument(program, argument);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) verify_node(program, i);
  for (const std::uint32_t value : program.values)
    require(value == kNone || value < program.nodes.size(), program, "the table of values names operation ",
            value, ", which does not exist");
  for (const Output& output : program.outputs) verify_output(program, output);
  verify_reductions(program);
}

void verify_launchable(const Program& program) {
  verify(program);
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    require(program.nodes[i].stage <= 2, program, "operation ", i,
            " belongs to a second loop, which only adjoints have");
  for (const Reduction& reduction : program.reductions)
    require(reduction.stage == 1, program, "a reduction belongs to a second loop, which only adjoints have");
  for (const Output& output : program.outputs) {
    require(output.stage % 2 == 0 && output.stage <= 2, program, "output '", output.name.view(),
            "' is written in a loop, which only adjoints do");
    if (output.reach == Reach::gather) continue;  // nothing is added there
    const std::uint32_t count = static_cast<std::uint32_t>(output.columns * width_of(output.row));
    for (std::uint32_t k = 0; k < count; ++k)
      require(program.values[output.first_value + k] != kNone, program, "output '", output.name.view(),
              "' is not written whole");
  }
}

}  // namespace nova
