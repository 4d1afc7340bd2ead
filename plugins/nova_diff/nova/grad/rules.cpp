// SPDX-License-Identifier: Apache-2.0
#include "nova/grad/rules.hpp"

namespace nova {
namespace {

// Products with partial derivatives that may be infinite, or with a cotangent that may stand for an arm not
// taken, are zero where the cotangent is zero; the others are plain.
std::uint32_t times(Rewriter& graph, Bar bar, std::uint32_t partial) {
  return graph.f(bar.guarded ? Op::zmul : Op::mul, bar.node, partial);
}

}  // namespace

Cotangents cotangents(Rewriter& graph, Op op, const Operands& values, Bar bar, std::array<bool, 3> needed) {
  const auto [a, b, c] = values.operand;
  const std::uint32_t g = bar.node, zero = graph.constant(0.0f);
  Cotangents out;
  auto& [to_a, to_b, to_c] = out.operand;
  const auto same = [&](std::uint32_t node) { return Bar{node, bar.guarded}; };
  const auto guarded = [&](std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
    return Bar{graph.f(Op::select, mask, yes, no), true};
  };
  switch (op) {
    case Op::add:
      to_a = bar, to_b = bar;
      break;
    case Op::sub:
      to_a = bar;
      if (needed[1]) to_b = same(graph.f(Op::neg, g));
      break;
    case Op::neg:
      to_a = same(graph.f(Op::neg, g));
      break;
    case Op::fma:
      to_c = bar;
      [[fallthrough]];
    case Op::mul:
      if (needed[0]) to_a = same(times(graph, bar, b));
      if (needed[1]) to_b = same(times(graph, bar, a));
      break;
    case Op::div: {
      const std::uint32_t quotient = graph.f(Op::zdiv, g, b);
      to_a = same(quotient);
      if (needed[1]) to_b = same(graph.f(Op::neg, graph.f(Op::zmul, quotient, values.self)));
      break;
    }
    case Op::sqrt: {
      const std::uint32_t half = graph.f(Op::mul, g, graph.constant(0.5f));
      to_a = guarded(graph.put(Op::equal, ValueType::mask, values.self, zero), zero,
                     graph.f(Op::zdiv, half, values.self));
      break;
    }
    case Op::abs:
      to_a = {graph.f(Op::select, graph.put(Op::less, ValueType::mask, a, zero), graph.f(Op::neg, g), g),
              bar.guarded};
      break;
    case Op::min:
    case Op::max: {
      const std::uint32_t first = op == Op::min ? graph.put(Op::less, ValueType::mask, a, b)
                                                : graph.put(Op::less, ValueType::mask, b, a);
      if (needed[0]) to_a = guarded(first, g, zero);
      if (needed[1]) to_b = guarded(first, zero, g);
      break;
    }
    case Op::select:
      if (needed[1]) to_b = guarded(a, g, zero);
      if (needed[2]) to_c = guarded(a, zero, g);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace nova
