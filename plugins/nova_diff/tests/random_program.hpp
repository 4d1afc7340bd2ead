// SPDX-License-Identifier: Apache-2.0
// Seeded random programs and a scalar reference that evaluates them as written, before any pass has touched
// them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "nova/expr/passes.hpp"
#include "novaphy/nova/program.hpp"

namespace nova::test {

struct RandomProgram {
  Program program;  ///< `inputs` row arguments, one output of `outputs` columns as f32 rows
  int inputs = 0, outputs = 0;
};

inline constexpr float kAwkward[] = {0.0f,
                                     -0.0f,
                                     1.0f,
                                     -1.0f,
                                     0.5f,
                                     1e-42f,
                                     -1e-42f,
                                     3e38f,
                                     1e-30f,
                                     std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::quiet_NaN()};

/// `smooth`: only operations without kinks, on moderate values.
inline RandomProgram random_program(std::mt19937& rng, int count, bool smooth) {
  const auto pick = [&](int n) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<int>(0, n - 1)(rng));
  };
  RandomProgram out;
  out.inputs = 4, out.outputs = 3;
  Program& p = out.program;
  p.name = "random";
  std::vector<std::uint32_t> floats, masks;
  const auto put = [&](Op op, ValueType type, std::uint32_t a, std::uint32_t b = kNone,
                       std::uint32_t c = kNone) {
    p.nodes.push_back({.op = op, .type = type, .a = a, .b = b, .c = c});
    (type == ValueType::mask ? masks : floats).push_back(static_cast<std::uint32_t>(p.nodes.size() - 1));
  };
  for (int i = 0; i < out.inputs; ++i) {
    p.arguments.push_back({.name = "x", .row = Row::f32});
    put(Op::input, ValueType::f32, static_cast<std::uint32_t>(i), 0);
  }
  for (int i = 0; i < 4; ++i) {
    const float value = smooth ? std::uniform_real_distribution<float>(0.5f, 1.5f)(rng) : kAwkward[pick(9)];
    put(Op::constant, ValueType::f32, std::bit_cast<std::uint32_t>(value));
  }
  const auto f = [&] { return floats[pick(static_cast<int>(floats.size()))]; };
  put(Op::less, ValueType::mask, f(), f());
  const auto m = [&] { return masks[pick(static_cast<int>(masks.size()))]; };
  static constexpr Op kSmooth[] = {Op::add, Op::sub, Op::mul, Op::neg, Op::fma, Op::add, Op::sub};
  static constexpr Op kAll[] = {Op::add,        Op::sub,   Op::mul,      Op::div,     Op::neg,
                                Op::fma,        Op::sqrt,  Op::abs,      Op::min,     Op::max,
                                Op::zmul,       Op::zdiv,  Op::select,   Op::select,  Op::less,
                                Op::less_equal, Op::equal, Op::mask_and, Op::mask_or, Op::mask_not};
  for (int i = 0; i < count; ++i) {
    const Op op = smooth ? kSmooth[pick(7)] : kAll[pick(20)];
    switch (op) {
      case Op::less:
      case Op::less_equal:
      case Op::equal:
        put(op, ValueType::mask, f(), f());
        break;
      case Op::mask_and:
      case Op::mask_or:
        put(op, ValueType::mask, m(), m());
        break;
      case Op::mask_not:
        put(op, ValueType::mask, m());
        break;
      case Op::select:
        put(op, ValueType::f32, m(), f(), f());
        break;
      case Op::fma:
        put(op, ValueType::f32, f(), f(), f());
        break;
      case Op::neg:
      case Op::sqrt:
      case Op::abs:
        put(op, ValueType::f32, f());
        break;
      default:
        put(op, ValueType::f32, f(), f());
        break;
    }
    // keep smooth values moderate
    if (smooth && i % 4 == 3) {
      put(Op::constant, ValueType::f32, std::bit_cast<std::uint32_t>(0.5f));
      put(Op::mul, ValueType::f32, floats[floats.size() - 2], floats.back());
    }
  }
  for (int k = 0; k < out.outputs; ++k) {
    p.outputs.push_back({.name = "y", .row = Row::f32, .first_value = static_cast<std::uint32_t>(k)});
    p.values.push_back(k == 0 ? floats.back() : f());
  }
  return out;
}

/// The values of all operations for one row, in plain C++ over T: float gives the exact results, double the
/// check of derivatives. Masks are 1 and 0.
template <class T>
std::vector<T> evaluate(const Program& p, const std::vector<T>& inputs) {
  std::vector<T> v(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const Node& n = p.nodes[i];
    const T a = operand_count(n.op) > 0 ? v[n.a] : T(0), b = operand_count(n.op) > 1 ? v[n.b] : T(0),
            c = operand_count(n.op) > 2 ? v[n.c] : T(0);
    switch (n.op) {
      case Op::constant:
        v[i] = n.type == ValueType::mask ? T(n.a != 0) : static_cast<T>(std::bit_cast<float>(n.a));
        break;
      case Op::input:
        v[i] = inputs[n.a];
        break;
      case Op::add:
        v[i] = a + b;
        break;
      case Op::sub:
        v[i] = a - b;
        break;
      case Op::mul:
        v[i] = a * b;
        break;
      case Op::div:
        v[i] = a / b;
        break;
      case Op::neg:
        v[i] = -a;
        break;
      case Op::fma:
        v[i] = std::fma(a, b, c);
        break;
      case Op::sqrt:
        v[i] = std::sqrt(a);
        break;
      case Op::abs:
        v[i] = std::fabs(a);
        break;
      case Op::min:
        v[i] = std::isnan(a) ? b : std::isnan(b) ? a : a < b ? a : b;
        break;
      case Op::max:
        v[i] = std::isnan(a) ? b : std::isnan(b) ? a : a > b ? a : b;
        break;
      case Op::zmul:
        v[i] = a == 0 ? T(0) : a * b;
        break;
      case Op::zdiv:
        v[i] = a == 0 ? T(0) : a / b;
        break;
      case Op::less:
        v[i] = T(a < b);
        break;
      case Op::less_equal:
        v[i] = T(a <= b);
        break;
      case Op::equal:
        v[i] = T(a == b);
        break;
      case Op::mask_and:
        v[i] = T(a != 0 && b != 0);
        break;
      case Op::mask_or:
        v[i] = T(a != 0 || b != 0);
        break;
      case Op::mask_not:
        v[i] = T(a == 0);
        break;
      case Op::select:
        v[i] = a != 0 ? b : c;
        break;
      default:
        v[i] = std::numeric_limits<T>::quiet_NaN();
        break;
    }
  }
  return v;
}

}  // namespace nova::test
