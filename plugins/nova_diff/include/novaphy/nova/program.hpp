// SPDX-License-Identifier: Apache-2.0
// A kernel as data: a list of typed operations for one row and the description of how rows reach memory.
//
// A Program holds no addresses, so it can be copied, hashed, compared and handed to any backend; a launch
// binds it to arrays. A program runs in stages: even stages run once a row, odd stages once for every (row,
// domain index).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "novaphy/error.hpp"

namespace nova {

/// What one row of an argument holds. Rows are packed in memory.
enum class Row : std::uint8_t {
  f32 = 0,
  vec2,
  vec3,
  vec4,
  quat,
  transform,
  spatial,
  mat22,
  mat33,  // float32
  i32,
  ivec2,
  ivec3,
  ivec4,
  flags,  // int32 (flags: int32 or uint32)
  u8,     // uint8, read as an int32 from 0 to 255; inputs only
  vec5,   // float32
};

constexpr Row kLastRow = Row::vec5;

/// Numbers in a row.
constexpr int width_of(Row row) noexcept {
  constexpr std::array<std::uint8_t, 16> kWidth{1, 2, 3, 4, 4, 7, 6, 4, 9, 1, 2, 3, 4, 1, 1, 5};
  return kWidth[static_cast<std::size_t>(row)];
}
constexpr bool is_float(Row row) noexcept {
  return row <= Row::mat33 || row == Row::vec5;
}

/// Which row of an array a program row e (and domain index s) sees.
enum class Reach : std::uint8_t {
  row = 0,  ///< row e
  uniform,  ///< row 0
  value,    ///< one number given to the launch
  domain,   ///< row s
  pair,     ///< row s * rows + e
  gather,   ///< row index[e][column], or index[s * rows + e][column] when the index itself is `pair`
};

/// How an output is written.
enum class Write : std::uint8_t {
  set = 0,      ///< row e; the old content does not matter
  add,          ///< row e (or pair, gather, uniform, domain by its reach) is added to
  scatter_add,  ///< rows index[e][k] += value k, in element order
  scatter_sub,  ///< rows index[e][k] -= value k, in element order
  sum,          ///< row 0 = the sum over all rows
};

enum class ValueType : std::uint8_t { f32 = 0, i32, mask };

/// Operations on 32-bit values. New ones go at the end of their group; numbers are never used again for
/// another meaning.
enum class Op : std::uint8_t {
  constant = 0,  ///< a = bits
  input,         ///< a = argument, b = column * width + component
  reduced,       ///< a = reduction: its result after the loop

  add = 16,
  sub,
  mul,
  div,
  neg,  ///< float32, rounded to nearest
  fma,  ///< a * b + c, rounded once
  sqrt,
  abs,
  min,
  max,   ///< C fmin and fmax; of equal operands (zeros of unlike sign) the second
  zmul,  ///< a == 0 ? 0 : a * b
  zdiv,  ///< a == 0 ? 0 : a / b
  mul_add,
  mul_sub,
  sub_mul,  ///< a*b + c, a*b - c, c - a*b with two roundings; made by lowering only
  floor,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan2,
  exp,
  log,
  pow,
  tanh,     ///< novaphy/elementary.hpp: rounded once from float64
  to_f32,   ///< int32 -> float32, rounded to nearest

  less = 48,
  less_equal,
  equal,  ///< float32 -> mask
  iless,
  iless_equal,
  iequal,  ///< int32 -> mask
  mask_and,
  mask_or,
  mask_not,  ///< mask
  select,    ///< a ? b : c, any type

  iadd = 80,
  isub,
  imul,
  iand,
  ior,
  ixor,         ///< int32, wraps
  idiv,         ///< towards zero; x / 0 = 0
  imod,         ///< x - (x / y) * y; x mod 0 = 0
  shift_left,
  shift_right,  ///< arithmetic; both by the low five bits of the count
  to_i32,       ///< float32 -> int32, towards zero; too large: the nearest int32, NaN: 0
};

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Node {
  Op op = Op::constant;
  ValueType type = ValueType::f32;
  std::uint8_t stage = 0;
  std::uint8_t reserved = 0;
  std::uint32_t a = kNone, b = kNone, c = kNone;
  friend bool operator==(const Node&, const Node&) = default;
};

/// A name of at most 63 characters, kept inside the struct.
struct Name {
  std::array<char, 64> characters{};
  Name() = default;
  Name(std::string_view text) {
    NOVAPHY_REQUIRE(text.size() < characters.size(), novaphy::ErrorKind::value, "nova: the name '", text,
                    "' has ", text.size(), " characters, 63 is the most; use a shorter one");
    std::memcpy(characters.data(), text.data(), text.size());
  }
  Name(const char* text) : Name(std::string_view(text)) {}
  std::string_view view() const noexcept { return characters.data(); }
  const char* c_str() const noexcept { return characters.data(); }
  friend bool operator==(const Name&, const Name&) = default;
};

/// An input array. Index arguments (integer arrays that gathers and scatters go through) are arguments too;
/// they stand after the others.
struct Argument {
  Name name;
  Row row = Row::f32;
  Reach reach = Reach::row;
  std::uint8_t columns = 1;  ///< gather: rows per element
  bool differentiable = true;
  bool is_static = false;          ///< changes only when the user changes it (rest shape, material)
  std::uint32_t index = kNone;     ///< gather: the index argument
  std::uint32_t first_column = 0;  ///< gather: column of the index that column 0 reads
};

struct Output {
  Name name;
  Row row = Row::f32;
  Write write = Write::set;
  Reach reach = Reach::row;
  std::uint8_t columns = 1;
  std::uint8_t stage = 0;  ///< odd: written in every iteration of that loop; even: written once a row
  std::uint32_t index = kNone;
  std::uint32_t first_column = 0;
  std::uint32_t first_value =
      0;  ///< in Program::values: columns * width entries, kNone = nothing is added there
};

/// result = init; in loop stage `stage`, for every domain index in order, its steps are applied.
struct Reduction {
  std::uint32_t init = kNone;
  std::uint32_t stage = 1;
};

/// if (mask) result = result +- term. Steps run in the order of the table.
struct ReductionStep {
  std::uint32_t reduction = 0, term = kNone, mask = kNone;  ///< mask kNone = always
  std::uint32_t subtract = 0;
};

struct Program {
  static constexpr int kMaxArguments = 64;
  Name name;
  std::vector<Node> nodes;  ///< operands precede uses
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<std::uint32_t> values;  ///< nodes that outputs write
  std::vector<Reduction> reductions;
  std::vector<ReductionStep> steps;
};

}  // namespace nova
