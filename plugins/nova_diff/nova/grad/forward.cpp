// SPDX-License-Identifier: Apache-2.0
// Walks a program forwards and appends the tangents to the same list.
//
// An operation is linear in its tangents and in its cotangents by the same partial derivatives, so both modes
// share one table: the tangent of a result is the sum over the operands of what the table would pass to each
// from its own tangent. Sums of loops are linear too, so the tangent of a reduction is a reduction over the
// same loop.
#include "nova/grad/forward.hpp"

#include <algorithm>
#include <vector>

#include "nova/expr/passes.hpp"
#include "nova/expr/rewriter.hpp"
#include "nova/grad/rules.hpp"

namespace nova {
namespace {

class Forward {
 public:
  Forward(const Program& program, std::uint64_t moving)
      : program_(program),
        primal_(program.nodes.size(), kNone),
        tangent_(program.nodes.size(), kNone),
        tangent_sum_(program.reductions.size(), kNone),
        tangent_argument_(program.arguments.size(), kNone) {
    out_.name = program.name;
    out_.arguments = program.arguments;
    out_.reductions = program.reductions;
    add_arguments(moving);
    find_moving_sums();
    for (std::uint32_t i = 0; i < program.nodes.size(); ++i) visit(i);
    write_reductions();
    write_outputs();
    out_.nodes = graph_.take();
  }
  Program take() { return simplify(out_); }

 private:
  void add_arguments(std::uint64_t moving);
  void find_moving_sums();
  void visit(std::uint32_t node);
  std::uint32_t tangent_of(const Node& n, std::uint32_t self);
  std::uint32_t select_tangent(std::uint32_t mask, std::uint32_t yes, std::uint32_t no);
  void write_reductions();
  void write_outputs();
  std::uint32_t or_zero(std::uint32_t node) { return node == kNone ? graph_.constant(0.0f) : node; }

  const Program& program_;
  Program out_;
  Rewriter graph_;
  std::vector<std::uint32_t> primal_, tangent_;  // of each node; kNone = does not move
  std::vector<std::uint32_t> tangent_sum_;       // of each reduction; kNone = does not move
  std::vector<std::uint32_t> tangent_argument_;
};

void Forward::add_arguments(std::uint64_t moving) {
  for (std::size_t i = 0; i < program_.arguments.size(); ++i) {
    if (!(moving >> i & 1)) continue;
    tangent_argument_[i] = static_cast<std::uint32_t>(out_.arguments.size());
    Argument tangent = program_.arguments[i];
    tangent.differentiable = tangent.is_static = false;
    out_.arguments.push_back(tangent);
  }
}

// Which sums move must be known before their results are read; what they start from and add is computed
// before.
void Forward::find_moving_sums() {
  std::vector<bool> moves(program_.nodes.size()), sum_moves(program_.reductions.size());
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& n = program_.nodes[i];
    if (n.type != ValueType::f32) continue;
    if (n.op == Op::input) moves[i] = tangent_argument_[n.a] != kNone;
    if (n.op == Op::reduced) {
      bool any = moves[program_.reductions[n.a].init];
      for (const ReductionStep& step : program_.steps) any |= step.reduction == n.a && moves[step.term];
      moves[i] = sum_moves[n.a] = any;
    }
    const std::uint32_t operands[3] = {n.a, n.b, n.c};
    for (int k = 0; k < operand_count(n.op); ++k)
      if (moves[operands[k]]) moves[i] = true;
  }
  for (std::size_t k = 0; k < sum_moves.size(); ++k) {
    if (!sum_moves[k]) continue;
    tangent_sum_[k] = static_cast<std::uint32_t>(out_.reductions.size());
    out_.reductions.push_back({.stage = program_.reductions[k].stage});
  }
}

void Forward::visit(std::uint32_t node) {
  const Node& n = program_.nodes[node];
  const auto mapped = [&](std::uint32_t x) { return x == kNone ? kNone : primal_[x]; };
  switch (n.op) {
    case Op::constant:
      primal_[node] = graph_.constant_bits(n.type, n.a);
      return;
    case Op::input:
      primal_[node] = graph_.input(n.type, n.a, n.b, n.stage);
      if (tangent_argument_[n.a] != kNone && n.type == ValueType::f32)
        tangent_[node] = graph_.input(n.type, tangent_argument_[n.a], n.b, n.stage);
      return;
    case Op::reduced:
      primal_[node] = graph_.reduced(n.type, n.a, n.stage);
      if (tangent_sum_[n.a] != kNone) tangent_[node] = graph_.reduced(n.type, tangent_sum_[n.a], n.stage);
      return;
    default:
      primal_[node] = graph_.put(n.op, n.type, mapped(n.a), mapped(n.b), mapped(n.c));
      if (n.type == ValueType::f32) tangent_[node] = tangent_of(n, primal_[node]);
  }
}

std::uint32_t Forward::tangent_of(const Node& n, std::uint32_t self) {
  if (n.op == Op::select) return select_tangent(primal_[n.a], tangent_[n.b], tangent_[n.c]);
  const std::uint32_t operands[3] = {n.a, n.b, n.c};
  const int count = operand_count(n.op);
  Operands values{.self = self};
  for (int k = 0; k < count; ++k) values.operand[static_cast<std::size_t>(k)] = primal_[operands[k]];
  if (n.op == Op::min || n.op == Op::max) {
    const std::uint32_t first = takes_first(graph_, n.op, values.operand[0], values.operand[1]);
    return select_tangent(first, tangent_[n.a], tangent_[n.b]);
  }
  std::uint32_t sum = kNone;
  for (int k = 0; k < count; ++k) {
    const std::uint32_t tangent = tangent_[operands[k]];
    if (tangent == kNone) continue;
    std::array<bool, 3> needed{};
    needed[static_cast<std::size_t>(k)] = true;
    const Cotangents flow = cotangents(graph_, n.op, values, {tangent, false}, needed);
    const std::uint32_t part = flow.operand[static_cast<std::size_t>(k)].node;
    if (part != kNone) sum = sum == kNone ? part : graph_.f(Op::add, sum, part);
  }
  return sum;
}

std::uint32_t Forward::select_tangent(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  if (yes == kNone && no == kNone) return kNone;
  return graph_.f(Op::select, mask, or_zero(yes), or_zero(no));
}

void Forward::write_reductions() {
  for (std::size_t k = 0; k < program_.reductions.size(); ++k) {
    const std::uint32_t init = program_.reductions[k].init;
    out_.reductions[k].init = primal_[init];
    if (tangent_sum_[k] != kNone) out_.reductions[tangent_sum_[k]].init = or_zero(tangent_[init]);
  }
  for (const ReductionStep& step : program_.steps) {
    const std::uint32_t mask = step.mask == kNone ? kNone : primal_[step.mask];
    out_.steps.push_back({step.reduction, primal_[step.term], mask, step.subtract});
    if (tangent_sum_[step.reduction] != kNone && tangent_[step.term] != kNone)
      out_.steps.push_back({tangent_sum_[step.reduction], tangent_[step.term], mask, step.subtract});
  }
}

void Forward::write_outputs() {
  for (const Output& output : program_.outputs) {
    if (!is_float(output.row)) continue;
    const bool sets = output.write == Write::set || output.write == Write::sum;
    Output tangent = output;
    tangent.first_value = static_cast<std::uint32_t>(out_.values.size());
    const auto count = static_cast<std::uint32_t>(output.columns * width_of(output.row));
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t value = program_.values[output.first_value + k];
      const std::uint32_t node = value == kNone ? kNone : tangent_[value];
      out_.values.push_back(sets && value != kNone ? or_zero(node) : node);
    }
    out_.outputs.push_back(tangent);
  }
}

}  // namespace

Program forward(const Program& program, std::uint64_t moving) {
  return Forward(program, moving).take();
}

}  // namespace nova
