// SPDX-License-Identifier: Apache-2.0
// The rewrites that keep every bit. Tempting ones that do not (x + 0, 0 - x, x * 0, x - x, reassociation,
// division by a constant as a product) are absent on purpose: they change signs of zeros, hide NaN or round
// differently.
#include "nova/expr/rewriter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nova {
namespace {

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
float number(std::uint32_t value) {
  return std::bit_cast<float>(value);
}

// clang-format off
bool commutes(Op op) {
  switch (op) {
    case Op::add: case Op::mul: case Op::fma: case Op::equal: case Op::iequal:
    case Op::mask_and: case Op::mask_or:
    case Op::iadd: case Op::imul: case Op::iand: case Op::ior: case Op::ixor:
      return true;
    default:
      return false;
  }
}
// clang-format on

}  // namespace

std::size_t Rewriter::Hash::operator()(const Node& n) const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(n.op) | static_cast<std::uint64_t>(n.type) << 8 |
                    static_cast<std::uint64_t>(n.stage) << 16;
  for (const std::uint32_t x : {n.a, n.b, n.c}) h = (h ^ x) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
  return static_cast<std::size_t>(h);
}

std::uint32_t Rewriter::intern(const Node& node) {
  const auto [place, fresh] = known_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back(node);
  return place->second;
}

std::uint32_t Rewriter::constant(float value) {
  return constant_bits(ValueType::f32, bits(value));
}

std::uint32_t Rewriter::constant_bits(ValueType type, std::uint32_t value) {
  return intern({.op = Op::constant, .type = type, .a = value});
}

std::uint32_t Rewriter::input(ValueType type, std::uint32_t argument, std::uint32_t slot,
                              std::uint8_t stage) {
  return intern({.op = Op::input, .type = type, .stage = stage, .a = argument, .b = slot});
}

std::uint32_t Rewriter::reduced(ValueType type, std::uint32_t reduction, std::uint8_t stage) {
  return intern({.op = Op::reduced, .type = type, .stage = stage, .a = reduction});
}

bool Rewriter::is_constant(std::uint32_t node, float value) const {
  return nodes_[node].op == Op::constant && nodes_[node].type == ValueType::f32 &&
         nodes_[node].a == bits(value);
}

std::uint32_t Rewriter::put(Op op, ValueType type, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (const std::uint32_t same = rewrite(op, type, a, b, c); same != kNone) return same;
  if (commutes(op) && a > b) std::swap(a, b);
  if (const std::uint32_t value = fold(op, type, a, b); value != kNone) return value;
  std::uint8_t stage = nodes_[a].stage;
  for (const std::uint32_t operand : {b, c})
    if (operand != kNone) stage = std::max(stage, nodes_[operand].stage);
  return intern({.op = op, .type = type, .stage = stage, .a = a, .b = b, .c = c});
}

// Returns the node that already has the value, or kNone after normalising the operands in place.
std::uint32_t Rewriter::rewrite(Op op, ValueType type, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  switch (op) {
    case Op::add:
      if (is_constant(a, -0.0f)) return b;
      if (is_constant(b, -0.0f)) return a;
      if (is(b, Op::neg)) return put(Op::sub, type, a, nodes_[b].a);
      if (is(a, Op::neg)) return put(Op::sub, type, b, nodes_[a].a);
      break;
    case Op::sub:
      if (is_constant(b, 0.0f)) return a;
      if (is(b, Op::neg)) return put(Op::add, type, a, nodes_[b].a);
      break;
    case Op::mul:
      if (is_constant(a, 1.0f)) return b;
      if (is_constant(b, 1.0f)) return a;
      if (is(a, Op::neg)) return put(Op::neg, type, put(Op::mul, type, nodes_[a].a, b));
      if (is(b, Op::neg)) return put(Op::neg, type, put(Op::mul, type, a, nodes_[b].a));
      break;
    case Op::div:
      if (is_constant(b, 1.0f)) return a;
      break;
    case Op::neg:
      if (is(a, Op::neg)) return nodes_[a].a;
      if (is(a, Op::constant)) return constant_bits(type, nodes_[a].a ^ 0x80000000u);
      break;
    case Op::mask_not:
      if (is(a, Op::mask_not)) return nodes_[a].a;
      if (is(a, Op::constant)) return constant_bits(type, ~nodes_[a].a);
      break;
    case Op::mask_and:
    case Op::mask_or:
      if (a == b) return a;
      for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}})
        if (is(x, Op::constant)) return (nodes_[x].a != 0) == (op == Op::mask_and) ? y : x;
      break;
    case Op::select:
      if (b == c) return b;
      if (is(a, Op::constant)) return nodes_[a].a != 0 ? b : c;
      if (is(a, Op::mask_not)) a = nodes_[a].a, std::swap(b, c);
      break;
    default:
      break;
  }
  return kNone;
}

// Constant operands: the value, rounded as it would be at run time.
std::uint32_t Rewriter::fold(Op op, ValueType type, std::uint32_t a, std::uint32_t b) {
  if (!is(a, Op::constant) || (b != kNone && !is(b, Op::constant))) return kNone;
  const float x = number(nodes_[a].a), y = b == kNone ? 0.0f : number(nodes_[b].a);
  switch (op) {
    case Op::add:
      return constant(x + y);
    case Op::sub:
      return constant(x - y);
    case Op::mul:
      return constant(x * y);
    case Op::div:
      return constant(x / y);
    case Op::sqrt:
      return constant(std::sqrt(x));
    case Op::abs:
      return constant_bits(type, nodes_[a].a & 0x7FFFFFFFu);
    case Op::less:
      return mask(x < y);
    case Op::less_equal:
      return mask(x <= y);
    case Op::equal:
      return mask(x == y);
    default:
      return kNone;
  }
}

}  // namespace nova
