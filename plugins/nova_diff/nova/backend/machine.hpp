// SPDX-License-Identifier: Apache-2.0
// What the interpreter executes. Plain structs and pointers only: this header is compiled for several
// instruction sets, and an inline function of the standard library could end up in the library in the wrong
// one.
#pragma once

#include <cstdint>

namespace nova::machine {

enum class Do : std::uint16_t {
  add = 0,
  sub,
  mul,
  div,
  neg,
  fma,
  sqrt,
  abs,
  min,
  max,
  zmul,
  zdiv,
  mul_add,
  mul_sub,
  sub_mul,
  less,
  less_equal,
  equal,
  iless,
  iless_equal,
  iequal,
  mask_and,
  mask_or,
  mask_not,
  select,
  iadd,
  isub,
  imul,
  iand,
  ior,
  ixor,
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
  tanh,
  to_f32,
  idiv,
  imod,
  shift_left,
  shift_right,
  to_i32,
  copy,
  add_if,  ///< d = c ? a + b : a
  sub_if,  ///< d = c ? a - b : a
};

struct Instruction {
  Do op = Do::copy;
  std::uint16_t d = 0, a = 0, b = 0, c = 0;
};

enum class From : std::uint8_t { row, uniform, value, domain, pair, gather_row, gather_pair };

struct Load {
  From from = From::row;
  std::uint8_t argument = 0, width = 1, index = 0, index_width = 1, index_column = 0;
  std::uint16_t component = 0, reg = 0;
};

enum class To : std::uint8_t {
  set,          ///< row e
  add,          ///< row e
  add_pair,     ///< row s * rows + e
  staged_row,   ///< staged[slot][e]: reduced or scattered when all rows are done
  staged_loop,  ///< staged[slot][s * rows + e]
};

struct Store {
  To to = To::set;
  std::uint8_t output = 0, width = 1;
  std::uint16_t component = 0, reg = 0;
  std::uint32_t slot = 0;
};

struct Constant {
  std::uint16_t reg = 0;
  std::uint32_t bits = 0;
};

/// Even stages run once a row, odd ones once for every domain index.
struct Stage {
  std::uint32_t loads = 0, loads_end = 0, code = 0, code_end = 0, stores = 0, stores_end = 0;
};

struct Machine {
  const Stage* stages = nullptr;
  const Instruction* code = nullptr;
  const Load* loads = nullptr;
  const Store* stores = nullptr;
  const Constant* constants = nullptr;
  const Load* uniforms = nullptr;
  std::uint32_t stage_count = 0, constant_count = 0, uniform_count = 0, registers = 0;
};

struct Binding {
  const void* const* arguments = nullptr;  ///< a `value` argument points to its four bytes
  void* const* outputs = nullptr;
  float* staged_row = nullptr;
  float* staged_loop = nullptr;
  std::int64_t rows = 0, domain = 0;
};

/// Runs rows [begin, end) in blocks of `lanes` (1, 16 or 128) rows. `registers` holds registers * lanes
/// floats, 64-byte aligned. Every build and every width gives the same bits.
using Run = void (*)(const Machine& machine, const Binding& binding, std::int64_t begin, std::int64_t end,
                     int lanes, float* registers);

void run_base(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);
void run_v3(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);
void run_v4(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);

}  // namespace nova::machine
