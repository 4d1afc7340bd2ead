// SPDX-License-Identifier: Apache-2.0
// One row of a program, operation by operation, as written: what tests compare every way of running with, and
// what finds the operation behind a value that is not finite.
//
// Over float the values are those of a launch, bit for bit; over double they are those of the same formulas in
// float64, for checks of derivatives.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "nova/expr/passes.hpp"
#include "novaphy/elementary.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// The value of an operation: a real, or an int32 or mask (-1 = true).
template <class T>
struct Number {
  T real{};
  std::int32_t word = 0;
};

/// Arrays and sizes of a launch. Float arguments hold T, integer ones int32 or uint8; a `value` argument points to its
/// number.
struct EvaluatorInputs {
  const void* const* arguments = nullptr;
  std::int64_t rows = 0, domain = 0;
};

namespace detail {

// clang-format off
template <class T> T clamp_one(T x) { return x > 1 ? T(1) : x < -1 ? T(-1) : x; }

template <class T>
struct Functions {  // float64
  static T sin(T a) { return std::sin(a); }
  static T cos(T a) { return std::cos(a); }
  static T tan(T a) { return std::tan(a); }
  static T asin(T a) { return std::asin(clamp_one(a)); }
  static T acos(T a) { return std::acos(clamp_one(a)); }
  static T atan2(T a, T b) { return std::atan2(a, b); }
  static T exp(T a) { return std::exp(a); }
  static T log(T a) { return std::log(a); }
  static T pow(T a, T b) { return std::pow(a, b); }
  static T tanh(T a) { return std::tanh(a); }
};
template <>
struct Functions<float> {
  static float sin(float a) { return novaphy::sin(a); }
  static float cos(float a) { return novaphy::cos(a); }
  static float tan(float a) { return novaphy::tan(a); }
  static float asin(float a) { return novaphy::asin(a); }
  static float acos(float a) { return novaphy::acos(a); }
  static float atan2(float a, float b) { return novaphy::atan2(a, b); }
  static float exp(float a) { return novaphy::exp(a); }
  static float log(float a) { return novaphy::log(a); }
  static float pow(float a, float b) { return novaphy::pow(a, b); }
  static float tanh(float a) { return novaphy::tanh(a); }
};

template <class T>
T evaluate_real(Op op, T a, T b, T c) {
  using F = Functions<T>;
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::neg: return -a;
    case Op::fma: return std::fma(a, b, c);
    case Op::sqrt: return std::sqrt(a);
    case Op::abs: return std::fabs(a);
    case Op::min: return std::isnan(a) ? b : std::isnan(b) || a < b ? a : b;
    case Op::max: return std::isnan(a) ? b : std::isnan(b) || a > b ? a : b;
    case Op::zmul: return a == 0 ? T(0) : a * b;
    case Op::zdiv: return a == 0 ? T(0) : a / b;
    case Op::floor: return std::floor(a);
    case Op::sin: return F::sin(a);
    case Op::cos: return F::cos(a);
    case Op::tan: return F::tan(a);
    case Op::asin: return F::asin(a);
    case Op::acos: return F::acos(a);
    case Op::atan2: return F::atan2(a, b);
    case Op::exp: return F::exp(a);
    case Op::log: return F::log(a);
    case Op::pow: return F::pow(a, b);
    case Op::tanh: return F::tanh(a);
    default: return std::numeric_limits<T>::quiet_NaN();
  }
}

inline std::int32_t evaluate_integer(Op op, std::int32_t a, std::int32_t b) {
  const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
  const auto wrapped = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  switch (op) {
    case Op::iadd: return static_cast<std::int32_t>(x + y);
    case Op::isub: return static_cast<std::int32_t>(x - y);
    case Op::imul: return static_cast<std::int32_t>(x * y);
    case Op::iand: case Op::mask_and: return a & b;
    case Op::ior: case Op::mask_or: return a | b;
    case Op::ixor: return a ^ b;
    case Op::mask_not: return ~a;
    case Op::idiv: return b == 0 ? 0 : wrapped(std::int64_t{a} / b);
    case Op::imod: return b == 0 ? 0 : wrapped(std::int64_t{a} % b);
    case Op::shift_left: return static_cast<std::int32_t>(x << (y & 31));
    case Op::shift_right: return a >> (y & 31);
    case Op::iless: return -(a < b);
    case Op::iless_equal: return -(a <= b);
    case Op::iequal: return -(a == b);
    default: return 0;
  }
}

template <class T>
std::int32_t to_integer(T x) {
  if (x >= T(-2147483648.0) && x < T(2147483648.0)) return static_cast<std::int32_t>(x);
  return std::isnan(x) ? 0 : x < 0 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
}

template <class T>
Number<T> evaluate_node(const Node& n, const Number<T>& a, const Number<T>& b, const Number<T>& c) {
  switch (n.op) {
    case Op::less: return {T(0), -(a.real < b.real)};
    case Op::less_equal: return {T(0), -(a.real <= b.real)};
    case Op::equal: return {T(0), -(a.real == b.real)};
    case Op::select: return a.word != 0 ? b : c;
    case Op::to_f32: return {static_cast<T>(a.word), 0};
    case Op::to_i32: return {T(0), to_integer(a.real)};
    default: break;
  }
  if (n.type == ValueType::f32) return {evaluate_real(n.op, a.real, b.real, c.real), 0};
  return {T(0), evaluate_integer(n.op, a.word, b.word)};
}
// clang-format on

template <class T>
Number<T> read_number(const Program& p, const EvaluatorInputs& in, const Node& n, std::int64_t row,
                      std::int64_t s) {
  const Argument& argument = p.arguments[n.a];
  const int width = width_of(argument.row);
  std::int64_t at = row, component = n.b % width;
  switch (argument.reach) {
    case Reach::row:
      break;
    case Reach::uniform:
    case Reach::value:
      at = 0;
      break;
    case Reach::domain:
      at = s;
      break;
    case Reach::pair:
      at = s * in.rows + row;
      break;
    case Reach::gather: {
      const Argument& index = p.arguments[argument.index];
      const std::int64_t element = index.reach == Reach::pair ? s * in.rows + row : row;
      at = static_cast<const std::int32_t*>(
          in.arguments[argument.index])[element * width_of(index.row) + argument.first_column + n.b / width];
      if (at < 0) return {};
      break;
    }
  }
  if (argument.row == Row::u8) return {T(0), static_cast<const std::uint8_t*>(in.arguments[n.a])[at]};
  if (is_float(argument.row))
    return {static_cast<const T*>(in.arguments[n.a])[at * width + component], 0};
  return {T(0), static_cast<const std::int32_t*>(in.arguments[n.a])[at * width + component]};
}

}  // namespace detail

/// Evaluates one row of a verified program. Calls `on_node(node, value, s)` after each operation, with s the
/// domain index or -1 outside of loops, and `on_output(output, k, value, s)` for each number that an output
/// writes.
template <class T, class OnNode, class OnOutput>
void evaluate_row(const Program& p, const EvaluatorInputs& in, std::int64_t row, OnNode on_node,
                  OnOutput on_output) {
  std::vector<Number<T>> value(p.nodes.size());
  std::vector<T> sum(p.reductions.size());
  std::uint32_t last = 0;
  for (const Node& n : p.nodes) last = std::max<std::uint32_t>(last, n.stage);
  for (const Output& o : p.outputs) last = std::max<std::uint32_t>(last, o.stage);
  for (const Reduction& r : p.reductions) last = std::max(last, r.stage);
  if (last % 2 == 1) ++last;

  const auto run_nodes = [&](std::uint32_t stage, std::int64_t s) {
    for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
      const Node& n = p.nodes[i];
      if (n.stage != stage) continue;
      const int count = operand_count(n.op);
      if (n.op == Op::constant)
        value[i] = n.type == ValueType::f32 ? Number<T>{static_cast<T>(std::bit_cast<float>(n.a)), 0}
                                            : Number<T>{T(0), static_cast<std::int32_t>(n.a)};
      else if (n.op == Op::input)
        value[i] = detail::read_number<T>(p, in, n, row, s);
      else if (n.op == Op::reduced)
        value[i] = {sum[n.a], 0};
      else
        value[i] = detail::evaluate_node(n, value[n.a], count > 1 ? value[n.b] : Number<T>{},
                                         count > 2 ? value[n.c] : Number<T>{});
      on_node(i, value[i], s);
    }
  };
  const auto write = [&](std::uint32_t output, std::int64_t s) {
    const Output& o = p.outputs[output];
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(o.columns * width_of(o.row)); ++k)
      if (const std::uint32_t node = p.values[o.first_value + k]; node != kNone)
        on_output(output, k, value[node], s);
  };
  for (std::uint32_t stage = 0; stage <= last; ++stage) {
    const bool loop = stage % 2 == 1;
    for (std::int64_t s = 0; s < (loop ? in.domain : 1); ++s) {
      run_nodes(stage, loop ? s : -1);
      for (const ReductionStep& step : p.steps) {
        if (p.reductions[step.reduction].stage != stage) continue;
        if (step.mask != kNone && value[step.mask].word == 0) continue;
        T& total = sum[step.reduction];
        total = step.subtract ? total - value[step.term].real : total + value[step.term].real;
      }
      for (std::uint32_t k = 0; loop && k < p.outputs.size(); ++k)
        if (p.outputs[k].stage == stage) write(k, s);
    }
    for (std::size_t k = 0; k < p.reductions.size(); ++k)
      if (p.reductions[k].stage == stage + 1) sum[k] = value[p.reductions[k].init].real;
  }
  for (std::uint32_t k = 0; k < p.outputs.size(); ++k)
    if (p.outputs[k].stage % 2 == 0) write(k, -1);
}

}  // namespace nova
