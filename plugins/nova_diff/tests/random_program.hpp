// SPDX-License-Identifier: Apache-2.0
// Seeded random programs with every operation, row type, reach and way of writing, and arrays to run them on.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "nova/expr/passes.hpp"
#include "novaphy/nova/program.hpp"

namespace nova::test {

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
inline constexpr std::int64_t kTargets = 9;  ///< rows of what is gathered from and scattered to

/// Which operations a random program has.
enum class Flavour {
  any,       ///< all of them
  smooth,    ///< those with derivatives everywhere, on values kept moderate
  singular,  ///< of arguments only: zeros, ones and halves
};

class RandomProgram {
 public:
  RandomProgram(std::mt19937& rng, int count, Flavour flavour) : rng_(rng), flavour_(flavour) {
    program.name = "random";
    add_inputs();
    for (int i = 0; i < 3; ++i) put(Op::constant, ValueType::f32, 0, literal());
    put(Op::constant, ValueType::i32, 0, below(40));
    put(Op::less, ValueType::mask, 0, real(0), real(0));
    for (int i = 0; i < count; ++i) add_operation(0);
    has_loop_ = below(3) != 0;
    if (has_loop_) add_loop(count / 2);
    for (int i = 0; has_loop_ && i < count / 2; ++i) add_operation(2);
    add_outputs();
  }

  Program program;

 private:
  std::uint32_t below(int n) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<int>(0, n - 1)(rng_));
  }
  std::uint32_t literal() {
    const float value = flavour_ == Flavour::smooth ? std::uniform_real_distribution<float>(0.5f, 1.5f)(rng_)
                                                    : kAwkward[below(9)];
    return std::bit_cast<std::uint32_t>(value);
  }
  std::uint32_t pick(ValueType type, int stage) {
    const auto& before = pool_[0][static_cast<std::size_t>(type)];
    const auto& here = pool_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(type)];
    const bool local = !here.empty() && (before.empty() || below(3) != 0);
    const auto& from = local ? here : before;
    return from[below(static_cast<int>(from.size()))];
  }
  std::uint32_t real(int stage) { return pick(ValueType::f32, stage); }
  std::uint32_t integer(int stage) { return pick(ValueType::i32, stage); }
  std::uint32_t mask(int stage) { return pick(ValueType::mask, stage); }

  std::uint32_t put(Op op, ValueType type, int stage, std::uint32_t a, std::uint32_t b = kNone,
                    std::uint32_t c = kNone) {
    if (op != Op::constant && op != Op::input && op != Op::reduced) {
      stage = program.nodes[a].stage;
      for (const std::uint32_t x : {b, c})
        if (x != kNone) stage = std::max<int>(stage, program.nodes[x].stage);
    }
    program.nodes.push_back(
        {.op = op, .type = type, .stage = static_cast<std::uint8_t>(stage), .a = a, .b = b, .c = c});
    const auto node = static_cast<std::uint32_t>(program.nodes.size() - 1);
    pool_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(type)].push_back(node);
    return node;
  }

  Row real_row() { return static_cast<Row>(below(static_cast<int>(Row::mat33) + 1)); }
  Row integer_row(Row last) {
    const int first = static_cast<int>(Row::i32);
    return static_cast<Row>(first + static_cast<int>(below(static_cast<int>(last) - first + 1)));
  }
  void add_inputs() {
    static constexpr Reach kReaches[] = {Reach::row, Reach::uniform, Reach::domain, Reach::pair,
                                         Reach::gather};
    program.arguments = {
        {.name = "x", .row = Row::f32},
        {.name = "v", .row = real_row()},
        {.name = "q", .row = real_row()},
        {.name = "u", .row = real_row(), .reach = Reach::uniform},
        {.name = "h", .row = Row::f32, .reach = Reach::value, .differentiable = false},
        {.name = "n", .row = integer_row(Row::u8), .differentiable = false},
        {.name = "g", .row = real_row(), .reach = Reach::gather, .columns = 2, .index = 7},
        {.name = "ij", .row = Row::ivec3, .differentiable = false},
        {.name = "d", .row = real_row(), .reach = Reach::domain},
        {.name = "p", .row = real_row(), .reach = Reach::pair},
        {.name = "k", .row = Row::i32, .reach = Reach::pair, .differentiable = false},
        {.name = "c", .row = real_row(), .reach = Reach::gather, .index = 10},
        {.name = "m", .row = integer_row(Row::u8), .reach = kReaches[below(5)], .differentiable = false}};
    if (program.arguments[12].reach == Reach::gather) program.arguments[12].index = below(2) == 0 ? 7u : 10u;
    for (std::uint32_t i = 0; i < program.arguments.size(); ++i)
      if (!in_loop(program, program.arguments[i])) read(i, 0);
  }
  void read(std::uint32_t argument, int stage) {
    const Argument& a = program.arguments[argument];
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(a.columns * width_of(a.row)); ++k)
      put(Op::input, type_of(a.row), stage, argument, k);
  }

  void add_operation(int stage) {
    static constexpr Op kSmooth[] = {Op::add, Op::sub, Op::mul, Op::neg,  Op::fma, Op::add,
                                     Op::sub, Op::sin, Op::cos, Op::tanh, Op::sin, Op::mul};
    static constexpr Op kAll[] = {
        Op::add,         Op::sub,    Op::mul,        Op::div,         Op::neg,        Op::fma,    Op::sqrt,
        Op::abs,         Op::min,    Op::max,        Op::zmul,        Op::zdiv,       Op::floor,  Op::sin,
        Op::cos,         Op::tan,    Op::asin,       Op::acos,        Op::atan2,      Op::exp,    Op::log,
        Op::pow,         Op::tanh,   Op::to_f32,     Op::less,        Op::less_equal, Op::equal,  Op::iless,
        Op::iless_equal, Op::iequal, Op::mask_and,   Op::mask_or,     Op::mask_not,   Op::select, Op::select,
        Op::select,      Op::iadd,   Op::isub,       Op::imul,        Op::iand,       Op::ior,    Op::ixor,
        Op::idiv,        Op::imod,   Op::shift_left, Op::shift_right, Op::to_i32,     Op::add,    Op::mul,
        Op::sub,         Op::mul,    Op::add};
    if (flavour_ == Flavour::smooth) {
      const std::uint32_t made = put_operation(kSmooth[below(12)], stage);
      if (below(4) != 0) return;
      put(Op::mul, ValueType::f32, 0, made,
          put(Op::constant, ValueType::f32, 0, std::bit_cast<std::uint32_t>(0.5f)));
    } else {
      put_operation(kAll[below(static_cast<int>(std::size(kAll)))], stage);
    }
  }

  // clang-format off
  std::uint32_t put_operation(Op op, int s) {
    constexpr ValueType f32 = ValueType::f32, i32 = ValueType::i32;
    switch (op) {
      case Op::less: case Op::less_equal: case Op::equal: return put(op, ValueType::mask, s, real(s), real(s));
      case Op::iless: case Op::iless_equal: case Op::iequal:
        return put(op, ValueType::mask, s, integer(s), integer(s));
      case Op::mask_and: case Op::mask_or: return put(op, ValueType::mask, s, mask(s), mask(s));
      case Op::mask_not: return put(op, ValueType::mask, s, mask(s));
      case Op::select:
        return below(4) == 0 ? put(op, i32, s, mask(s), integer(s), integer(s)) : put(op, f32, s, mask(s), real(s), real(s));
      case Op::iadd: case Op::isub: case Op::imul: case Op::iand: case Op::ior: case Op::ixor: case Op::idiv:
      case Op::imod: case Op::shift_left: case Op::shift_right: return put(op, i32, s, integer(s), integer(s));
      case Op::to_i32: return put(op, i32, s, real(s));
      case Op::to_f32: return put(op, f32, s, integer(s));
      default: break;
    }
    const int count = operand_count(op);
    return put(op, f32, s, real(s), count > 1 ? real(s) : kNone, count > 2 ? real(s) : kNone);
  }
  // clang-format on

  void add_loop(int count) {
    for (std::uint32_t i = 0; i < program.arguments.size(); ++i)
      if (in_loop(program, program.arguments[i])) read(i, 1);
    for (int i = 0; i < count; ++i) add_operation(1);
    for (std::uint32_t k = 0; k < 2; ++k) program.reductions.push_back({.init = real(0), .stage = 1});
    for (int i = 0; i < 3; ++i) {
      const bool masked = flavour_ != Flavour::smooth && below(2) == 0;
      program.steps.push_back(
          {.reduction = below(2), .term = real(1), .mask = masked ? mask(1) : kNone, .subtract = below(2)});
    }
    for (std::uint32_t k = 0; k < 2; ++k) put(Op::reduced, ValueType::f32, 2, k);
  }

  void add_output(Output output) {
    output.first_value = static_cast<std::uint32_t>(program.values.size());
    const int stage = has_loop_ ? 2 : 0;
    for (int k = 0; k < output.columns * width_of(output.row); ++k)
      program.values.push_back(is_float(output.row) ? real(stage) : integer(stage));
    program.outputs.push_back(output);
  }
  void add_outputs() {
    add_output({.name = "a", .row = real_row()});
    add_output({.name = "b", .row = real_row(), .write = Write::add});
    add_output({.name = "m", .row = integer_row(Row::flags)});
    const bool adds = below(2) == 0;
    add_output({.name = "s",
                .row = real_row(),
                .write = adds ? Write::scatter_add : Write::scatter_sub,
                .reach = Reach::gather,
                .columns = 2,
                .index = 7,
                .first_column = 1});
    add_output({.name = "t", .row = real_row(), .write = Write::sum, .reach = Reach::uniform});
  }

  std::mt19937& rng_;
  const Flavour flavour_;
  bool has_loop_ = false;
  std::array<std::array<std::vector<std::uint32_t>, 3>, 3> pool_;  // by stage and type
};

/// Arrays for one launch of a program; T in the place of float.
template <class T>
struct Arrays {
  std::vector<std::vector<T>> reals;
  std::vector<std::vector<std::int32_t>> words;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<const void*> arguments() const {
    std::vector<const void*> out;
    for (std::size_t i = 0; i < reals.size(); ++i)
      out.push_back(!bytes[i].empty()  ? static_cast<const void*>(bytes[i].data())
                    : reals[i].empty() ? static_cast<const void*>(words[i].data())
                                       : reals[i].data());
    return out;
  }
  std::vector<void*> outputs() {
    std::vector<void*> out;
    for (std::size_t i = 0; i < reals.size(); ++i)
      out.push_back(reals[i].empty() ? static_cast<void*>(words[i].data()) : reals[i].data());
    return out;
  }
  void add(Row row, std::int64_t rows) {
    const auto count = static_cast<std::size_t>(rows * width_of(row));
    reals.emplace_back(is_float(row) ? count : 0);
    words.emplace_back(is_float(row) || row == Row::u8 ? 0 : count);
    bytes.emplace_back(row == Row::u8 ? count : 0);
  }
};

inline std::int64_t rows_of(Reach reach, std::int64_t rows, std::int64_t domain) {
  switch (reach) {
    case Reach::row:
      return rows;
    case Reach::uniform:
    case Reach::value:
      return 1;
    case Reach::domain:
      return domain;
    case Reach::pair:
      return rows * domain;
    case Reach::gather:
      break;
  }
  return kTargets;
}

/// Arguments with random content; integers in [-1, kTargets).
template <class T>
Arrays<T> random_arguments(const Program& program, std::int64_t rows, std::int64_t domain, std::mt19937& rng,
                           Flavour flavour) {
  std::uniform_real_distribution<float> wide(-3.0f, 3.0f), moderate(0.3f, 1.2f);
  std::uniform_int_distribution<int> index(-1, static_cast<int>(kTargets) - 1), awkward(0, 11), often(0, 3);
  Arrays<T> out;
  for (const Argument& a : program.arguments) {
    out.add(a.row, rows_of(a.reach, rows, domain));
    for (T& x : out.reals.back())
      x = static_cast<T>(flavour == Flavour::smooth     ? moderate(rng)
                         : flavour == Flavour::singular ? kAwkward[awkward(rng) % 5]
                         : often(rng) == 0              ? kAwkward[awkward(rng)]
                                                        : wide(rng));
    for (std::int32_t& x : out.words.back()) x = index(rng);
    for (std::uint8_t& x : out.bytes.back()) x = static_cast<std::uint8_t>(rng());
  }
  return out;
}

/// Outputs with content to be added to.
template <class T>
Arrays<T> output_arrays(const Program& program, std::int64_t rows, std::int64_t domain, T start) {
  Arrays<T> out;
  for (const Output& o : program.outputs) {
    out.add(o.row, rows_of(o.reach, rows, domain));
    for (T& x : out.reals.back()) x = start;
  }
  return out;
}

}  // namespace nova::test
