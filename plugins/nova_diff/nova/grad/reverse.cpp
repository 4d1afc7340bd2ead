// SPDX-License-Identifier: Apache-2.0
// Walks a program backwards and appends the cotangents to the same list, so that values of the forward pass
// are shared.
//
// Stages of the result: 0 row, 1 the forward loop, 2 row after it, 3 the loop again for its cotangents, 4 row
// after that. Sums of the forward loop enter linearly, so their cotangent is the same in every iteration and
// nothing has to be stored: stage 3 computes the terms anew. Stages that nothing needs are empty and vanish
// when the program is simplified.
#include "nova/grad/reverse.hpp"

#include <algorithm>
#include <vector>

#include "nova/expr/passes.hpp"
#include "nova/expr/rewriter.hpp"
#include "nova/grad/cotangents.hpp"
#include "nova/grad/rules.hpp"

namespace nova {
namespace {

constexpr std::uint8_t kForwardLoop = 1, kReverseLoop = 3, kLastRow = 4;

class Reverse {
 public:
  Reverse(const Program& program, std::uint64_t wanted, std::uint64_t seeded)
      : program_(program),
        wanted_(wanted),
        bars_(program.nodes.size()),
        loop_bars_(program.nodes.size()),
        clones_(program.nodes.size(), kNone) {
    out_.name = program.name;
    out_.arguments = program.arguments;
    out_.reductions = program.reductions;
    out_.steps = program.steps;
    copy_forward();
    find_needed();
    seed(seeded);
    for (std::uint32_t i = static_cast<std::uint32_t>(program.nodes.size()); i-- > 0;) visit(i);
    write_outputs();
    out_.nodes = graph_.take();
  }
  Program take() { return simplify(out_); }

 private:
  void copy_forward();
  void find_needed();
  void seed(std::uint64_t seeded);
  void visit(std::uint32_t node);
  void visit_reduction(std::uint32_t reduction, Bar bar);
  void contribute(std::uint32_t target, Bar bar, bool from_loop);
  Bar total(std::uint32_t node);
  std::uint32_t in_reverse_loop(std::uint32_t node);
  void write_outputs();

  const Program& program_;
  const std::uint64_t wanted_;
  Program out_;
  Rewriter graph_;
  std::vector<std::uint32_t> forward_;  // node of the program -> node of the graph
  std::vector<bool> needed_;            // depends on a wanted argument
  std::vector<Bar> bars_,
      loop_bars_;  // loop_bars_: what one iteration of the reverse loop adds to a row value
  std::vector<std::uint32_t> clones_;  // values of the forward loop, computed again in the reverse loop
};

// The program is simplified already, so the rewriter gives back the same operations.
void Reverse::copy_forward() {
  forward_.reserve(program_.nodes.size());
  for (const Node& n : program_.nodes) {
    const auto mapped = [&](std::uint32_t node) { return node == kNone ? kNone : forward_[node]; };
    if (n.op == Op::constant)
      forward_.push_back(graph_.constant_bits(n.type, n.a));
    else if (n.op == Op::input)
      forward_.push_back(graph_.input(n.type, n.a, n.b, n.stage));
    else if (n.op == Op::reduced)
      forward_.push_back(graph_.reduced(n.type, n.a, n.stage));
    else
      forward_.push_back(graph_.put(n.op, n.type, mapped(n.a), mapped(n.b), mapped(n.c)));
  }
  const auto place = [&](std::uint32_t& node) { node = node == kNone ? kNone : forward_[node]; };
  for (Reduction& reduction : out_.reductions) place(reduction.init);
  for (ReductionStep& step : out_.steps) place(step.term), place(step.mask);
}

void Reverse::find_needed() {
  needed_.assign(program_.nodes.size(), false);
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& n = program_.nodes[i];
    if (n.type != ValueType::f32) continue;
    if (n.op == Op::input) needed_[i] = wanted_ >> n.a & 1;
    if (n.op == Op::reduced) {
      needed_[i] = needed_[program_.reductions[n.a].init];
      for (const ReductionStep& step : program_.steps)
        if (step.reduction == n.a && needed_[step.term]) needed_[i] = true;
    }
    const std::uint32_t operands[3] = {n.a, n.b, n.c};
    for (int k = 0; k < operand_count(n.op); ++k)
      if (needed_[operands[k]]) needed_[i] = true;
  }
}

// Each seeded output's cotangent is one more argument, read the way the output was written.
void Reverse::seed(std::uint64_t seeded) {
  for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
    if (!(seeded >> k & 1)) continue;
    const Output& output = program_.outputs[k];
    const auto argument = static_cast<std::uint32_t>(out_.arguments.size());
    out_.arguments.push_back({.name = output.name,
                              .row = output.row,
                              .reach = output.reach,
                              .columns = output.columns,
                              .differentiable = false,
                              .index = output.index,
                              .first_column = output.first_column});
    const auto count = static_cast<std::uint32_t>(output.columns * width_of(output.row));
    for (std::uint32_t j = 0; j < count; ++j) {
      const std::uint32_t value = program_.values[output.first_value + j];
      if (value == kNone || program_.nodes[value].type != ValueType::f32) continue;
      std::uint32_t bar = graph_.input(ValueType::f32, argument, j, 0);
      if (output.write == Write::scatter_sub) bar = graph_.f(Op::neg, bar);
      contribute(value, {bar, false}, false);
    }
  }
}

void Reverse::contribute(std::uint32_t target, Bar bar, bool from_loop) {
  if (!needed_[target]) return;
  Bar& sum = from_loop && program_.nodes[target].stage != kForwardLoop ? loop_bars_[target] : bars_[target];
  sum = sum.node == kNone ? bar : Bar{graph_.f(Op::add, sum.node, bar.node), sum.guarded || bar.guarded};
}

// The cotangent of a value when all its uses have been met.
Bar Reverse::total(std::uint32_t node) {
  const Bar loop = loop_bars_[node];
  if (loop.node == kNone) return bars_[node];
  const Bar row = bars_[node];
  const bool before_loop = row.node != kNone && graph_[row.node].stage < kReverseLoop;
  const auto reduction = static_cast<std::uint32_t>(out_.reductions.size());
  out_.reductions.push_back({.init = before_loop ? row.node : graph_.constant(0.0f), .stage = kReverseLoop});
  out_.steps.push_back({.reduction = reduction, .term = loop.node});
  std::uint32_t sum = graph_.reduced(ValueType::f32, reduction, kLastRow);
  if (row.node != kNone && !before_loop) sum = graph_.f(Op::add, row.node, sum);
  return {sum, loop.guarded || row.guarded};
}

std::uint32_t Reverse::in_reverse_loop(std::uint32_t node) {
  const Node& n = program_.nodes[node];
  if (n.stage != kForwardLoop) return forward_[node];
  if (clones_[node] != kNone) return clones_[node];
  if (n.op == Op::input) return clones_[node] = graph_.input(n.type, n.a, n.b, kReverseLoop);
  std::uint32_t operands[3] = {kNone, kNone, kNone};
  const std::uint32_t originals[3] = {n.a, n.b, n.c};
  for (int k = 0; k < operand_count(n.op); ++k) operands[k] = in_reverse_loop(originals[k]);
  return clones_[node] = graph_.put(n.op, n.type, operands[0], operands[1], operands[2]);
}

void Reverse::visit(std::uint32_t node) {
  if (!needed_[node]) return;
  const Node& n = program_.nodes[node];
  const Bar bar = bars_[node] = total(node);
  loop_bars_[node] = {};
  if (bar.node == kNone || n.op == Op::constant || n.op == Op::input) return;
  if (n.op == Op::reduced) return visit_reduction(n.a, bar);
  const bool loop = n.stage == kForwardLoop;
  Operands values{.self = in_reverse_loop(node)};
  const std::uint32_t operands[3] = {n.a, n.b, n.c};
  const int count = operand_count(n.op);
  for (int k = 0; k < count; ++k) values.operand[k] = in_reverse_loop(operands[k]);
  const Cotangents flow =
      cotangents(graph_, n.op, values, bar,
                 {count > 0 && needed_[n.a], count > 1 && needed_[n.b], count > 2 && needed_[n.c]});
  for (int k = 0; k < count; ++k)
    if (flow.operand[k].node != kNone) contribute(operands[k], flow.operand[k], loop);
}

void Reverse::visit_reduction(std::uint32_t reduction, Bar bar) {
  for (std::size_t k = program_.steps.size(); k-- > 0;) {
    const ReductionStep& step = program_.steps[k];
    if (step.reduction != reduction) continue;
    Bar flow = bar;
    if (step.subtract) flow.node = graph_.f(Op::neg, flow.node);
    if (step.mask != kNone)
      flow = {graph_.f(Op::select, in_reverse_loop(step.mask), flow.node, graph_.constant(0.0f)), true};
    contribute(step.term, flow, true);
  }
  contribute(program_.reductions[reduction].init, bar, false);
}

void Reverse::write_outputs() {
  const bool has_loop =
      std::any_of(program_.nodes.begin(), program_.nodes.end(), [](const Node& n) { return n.stage > 0; });
  for (std::uint32_t i = 0; i < program_.arguments.size(); ++i) {
    if (!(wanted_ >> i & 1)) continue;
    const Argument& argument = program_.arguments[i];
    const auto count = static_cast<std::size_t>(argument.columns * width_of(argument.row));
    Output output{.name = argument.name,
                  .row = argument.row,
                  .write = Write::add,
                  .reach = argument.reach,
                  .columns = argument.columns,
                  .index = argument.index,
                  .first_column = argument.first_column,
                  .first_value = static_cast<std::uint32_t>(out_.values.size())};
    if (argument.reach == Reach::gather) output.write = Write::scatter_add;
    output.stage = in_loop(program_, argument) ? kReverseLoop : has_loop ? kLastRow : std::uint8_t{0};
    out_.values.resize(out_.values.size() + count, kNone);
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Node& n = program_.nodes[k];
      if (n.op == Op::input && n.a == i) out_.values[output.first_value + n.b] = bars_[k].node;
    }
    out_.outputs.push_back(output);
  }
}

}  // namespace

Program reverse(const Program& program, std::uint64_t wanted, std::uint64_t seeded) {
  return Reverse(program, wanted, seeded).take();
}

}  // namespace nova
