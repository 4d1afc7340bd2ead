// SPDX-License-Identifier: Apache-2.0
#include "nova/grad/rules.hpp"

namespace nova {
namespace {

/// A partial derivative that may be infinite: nothing flows where the cotangent is zero.
std::uint32_t guarded_times(Rewriter& graph, std::uint32_t g, std::uint32_t partial) {
  return graph.f(Op::zmul, g, partial);
}

// Products with partial derivatives that may be infinite, or with a cotangent that may stand for an arm not
// taken, are zero where the cotangent is zero; the others are plain.
std::uint32_t times(Rewriter& graph, Bar bar, std::uint32_t partial) {
  return graph.f(bar.guarded ? Op::zmul : Op::mul, bar.node, partial);
}

std::uint32_t is_equal(Rewriter& graph, std::uint32_t a, float b) {
  return graph.put(Op::equal, ValueType::mask, a, graph.constant(b));
}

// asin and acos: g / sqrt(1 - a^2), and 0 at the ends and beyond, where the argument counts as the end.
std::uint32_t over_root(Rewriter& graph, std::uint32_t a, std::uint32_t g) {
  const std::uint32_t one = graph.constant(1.0f);
  const std::uint32_t outside = graph.put(Op::less_equal, ValueType::mask, one, graph.f(Op::abs, a));
  const std::uint32_t square = graph.f(Op::mul, graph.f(Op::sub, one, a), graph.f(Op::add, one, a));
  return graph.f(Op::select, outside, graph.constant(0.0f), graph.f(Op::zdiv, g, graph.f(Op::sqrt, square)));
}

std::uint32_t elementary_cotangent(Rewriter& graph, Op op, std::uint32_t a, std::uint32_t self,
                                   std::uint32_t g) {
  const std::uint32_t one = graph.constant(1.0f);
  switch (op) {
    case Op::sin:
      return guarded_times(graph, g, graph.f(Op::cos, a));
    case Op::cos:
      return graph.f(Op::neg, guarded_times(graph, g, graph.f(Op::sin, a)));
    case Op::tan:
      return guarded_times(graph, g, graph.f(Op::add, one, graph.f(Op::mul, self, self)));
    case Op::asin:
      return over_root(graph, a, g);
    case Op::acos:
      return graph.f(Op::neg, over_root(graph, a, g));
    case Op::exp:
      return guarded_times(graph, g, self);
    case Op::log:
      return graph.f(Op::zdiv, g, a);
    default:  // tanh
      return guarded_times(graph, g, graph.f(Op::sub, one, graph.f(Op::mul, self, self)));
  }
}

// atan2(y, x): (g x, -g y) / (x^2 + y^2), scaled by the larger of both so that no square over- or underflows.
void atan2_cotangents(Rewriter& graph, std::uint32_t y, std::uint32_t x, std::uint32_t g, Bar& to_y,
                      Bar& to_x) {
  const std::uint32_t larger = graph.f(Op::max, graph.f(Op::abs, y), graph.f(Op::abs, x));
  const std::uint32_t u = graph.f(Op::div, x, larger), v = graph.f(Op::div, y, larger);
  const std::uint32_t squares = graph.f(Op::add, graph.f(Op::mul, u, u), graph.f(Op::mul, v, v));
  const std::uint32_t q = graph.f(Op::zdiv, graph.f(Op::zdiv, g, larger), squares);
  const std::uint32_t origin = is_equal(graph, larger, 0.0f), zero = graph.constant(0.0f);
  to_y = {graph.f(Op::select, origin, zero, guarded_times(graph, q, u)), true};
  to_x = {graph.f(Op::select, origin, zero, graph.f(Op::neg, guarded_times(graph, q, v))), true};
}

// pow(a, b). By a: g b pow(a, b - 1), and 0 where a = 0 and b < 1. By b: g pow log(a), and 0 where a <= 0.
void pow_cotangents(Rewriter& graph, const Operands& values, std::uint32_t g, std::array<bool, 3> needed,
                    Bar& to_a, Bar& to_b) {
  const std::uint32_t a = values.operand[0], b = values.operand[1];
  const std::uint32_t zero = graph.constant(0.0f), one = graph.constant(1.0f);
  if (needed[0]) {
    const std::uint32_t root = graph.put(Op::mask_and, ValueType::mask, is_equal(graph, a, 0.0f),
                                         graph.put(Op::less, ValueType::mask, b, one));
    const std::uint32_t partial = graph.f(Op::zmul, b, graph.f(Op::pow, a, graph.f(Op::sub, b, one)));
    to_a = {graph.f(Op::select, root, zero, guarded_times(graph, g, partial)), true};
  }
  if (needed[1]) {
    const std::uint32_t partial = graph.f(Op::zmul, values.self, graph.f(Op::log, a));
    const std::uint32_t none = graph.put(Op::less_equal, ValueType::mask, a, zero);
    to_b = {graph.f(Op::select, none, zero, guarded_times(graph, g, partial)), true};
  }
}

}  // namespace

std::uint32_t takes_first(Rewriter& graph, Op op, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t before = op == Op::min ? graph.put(Op::less, ValueType::mask, a, b)
                                             : graph.put(Op::less, ValueType::mask, b, a);
  const std::uint32_t number = graph.put(Op::equal, ValueType::mask, b, b);
  return graph.put(Op::mask_or, ValueType::mask, before, graph.put(Op::mask_not, ValueType::mask, number));
}

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
    case Op::div:
    case Op::zdiv: {
      const std::uint32_t quotient = graph.f(Op::zdiv, g, b);
      to_a = same(quotient);
      if (!needed[1]) break;
      const bool by_quotient = op == Op::div;
      // 0 where b is infinite: what b was made of may be infinite too, and must not turn that 0 into NaN
      to_b = {graph.f(Op::neg, graph.f(Op::zmul, by_quotient ? quotient : values.self,
                                       by_quotient ? values.self : quotient)),
              true};
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
      const std::uint32_t first = takes_first(graph, op, a, b);
      if (needed[0]) to_a = guarded(first, g, zero);
      if (needed[1]) to_b = guarded(first, zero, g);
      break;
    }
    case Op::zmul:
      if (needed[0]) to_a = same(graph.f(Op::zmul, g, b));
      if (needed[1]) to_b = {graph.f(Op::zmul, a, g), true};  // g may be infinite where a annihilates it
      break;
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::exp:
    case Op::log:
    case Op::tanh:
      to_a = {elementary_cotangent(graph, op, a, values.self, g), true};
      break;
    case Op::atan2:
      atan2_cotangents(graph, a, b, g, to_a, to_b);
      break;
    case Op::pow:
      pow_cotangents(graph, values, g, needed, to_a, to_b);
      break;
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
