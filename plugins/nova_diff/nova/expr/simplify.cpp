// SPDX-License-Identifier: Apache-2.0
// Rebuilds a program through the rewriter, from the operations that its outputs need.
#include <vector>

#include "nova/expr/passes.hpp"
#include "nova/expr/rewriter.hpp"

namespace nova {
namespace {

struct Liveness {
  std::vector<bool> node, reduction;
};

Liveness find_live(const Program& program) {
  Liveness live{std::vector<bool>(program.nodes.size()), std::vector<bool>(program.reductions.size())};
  std::vector<std::uint32_t> pending(program.values);
  const auto visit = [&](std::uint32_t node) {
    if (node != kNone) pending.push_back(node);
  };
  while (!pending.empty()) {
    const std::uint32_t at = pending.back();
    pending.pop_back();
    if (at == kNone || live.node[at]) continue;
    live.node[at] = true;
    const Node& node = program.nodes[at];
    const int operands = operand_count(node.op);
    if (operands > 0) visit(node.a);
    if (operands > 1) visit(node.b);
    if (operands > 2) visit(node.c);
    if (node.op != Op::reduced || live.reduction[node.a]) continue;
    live.reduction[node.a] = true;
    visit(program.reductions[node.a].init);
    for (const ReductionStep& step : program.steps)
      if (step.reduction == node.a) visit(step.term), visit(step.mask);
  }
  return live;
}

Program rebuild(const Program& program) {
  const Liveness live = find_live(program);
  Program out;
  out.name = program.name, out.arguments = program.arguments, out.outputs = program.outputs;
  std::vector<std::uint32_t> new_reduction(program.reductions.size(), kNone),
      now(program.nodes.size(), kNone);
  for (std::size_t k = 0; k < program.reductions.size(); ++k)
    if (live.reduction[k]) {
      new_reduction[k] = static_cast<std::uint32_t>(out.reductions.size());
      out.reductions.push_back(program.reductions[k]);
    }

  Rewriter rewriter;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (!live.node[i]) continue;
    const Node& n = program.nodes[i];
    const auto mapped = [&](std::uint32_t node) { return node == kNone ? kNone : now[node]; };
    if (n.op == Op::constant)
      now[i] = rewriter.constant_bits(n.type, n.a);
    else if (n.op == Op::input)
      now[i] = rewriter.input(n.type, n.a, n.b, n.stage);
    else if (n.op == Op::reduced)
      now[i] = rewriter.reduced(n.type, new_reduction[n.a], n.stage);
    else
      now[i] = rewriter.put(n.op, n.type, mapped(n.a), mapped(n.b), mapped(n.c));
  }
  const auto place = [&](std::uint32_t& node) { node = node == kNone ? kNone : now[node]; };
  for (Reduction& reduction : out.reductions) place(reduction.init);
  for (ReductionStep step : program.steps) {
    if (!live.reduction[step.reduction]) continue;
    step.reduction = new_reduction[step.reduction];
    place(step.term), place(step.mask);
    if (step.mask != kNone && rewriter[step.mask].op == Op::constant) {
      if (rewriter[step.mask].a == 0) continue;  // never
      step.mask = kNone;                         // always
    }
    out.steps.push_back(step);
  }
  out.values = program.values;
  for (std::uint32_t& value : out.values) place(value);
  out.nodes = rewriter.take();
  return out;
}

}  // namespace

// The second pass drops the operands that rewriting has left without a use.
Program simplify(const Program& program) {
  return rebuild(rebuild(program));
}

}  // namespace nova
