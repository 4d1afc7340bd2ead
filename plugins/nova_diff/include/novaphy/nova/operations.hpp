// SPDX-License-Identifier: Apache-2.0
// What the recorder and every pass over programs know of operations and arguments: names, operand counts,
// types.
#pragma once

#include "novaphy/nova/program.hpp"

namespace nova {

// clang-format off
/// Null for a number that is no operation.
inline const char* name_of(Op op) noexcept {
  switch (op) {
    case Op::constant: return "constant";
    case Op::input: return "input";
    case Op::reduced: return "reduced";
    case Op::add: return "add";
    case Op::sub: return "sub";
    case Op::mul: return "mul";
    case Op::div: return "div";
    case Op::neg: return "neg";
    case Op::fma: return "fma";
    case Op::sqrt: return "sqrt";
    case Op::abs: return "abs";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::zmul: return "zmul";
    case Op::zdiv: return "zdiv";
    case Op::mul_add: return "mul_add";
    case Op::mul_sub: return "mul_sub";
    case Op::sub_mul: return "sub_mul";
    case Op::floor: return "floor";
    case Op::sin: return "sin";
    case Op::cos: return "cos";
    case Op::tan: return "tan";
    case Op::asin: return "asin";
    case Op::acos: return "acos";
    case Op::atan2: return "atan2";
    case Op::exp: return "exp";
    case Op::log: return "log";
    case Op::pow: return "pow";
    case Op::tanh: return "tanh";
    case Op::to_f32: return "to_f32";
    case Op::less: return "less";
    case Op::less_equal: return "less_equal";
    case Op::equal: return "equal";
    case Op::iless: return "iless";
    case Op::iless_equal: return "iless_equal";
    case Op::iequal: return "iequal";
    case Op::mask_and: return "mask_and";
    case Op::mask_or: return "mask_or";
    case Op::mask_not: return "mask_not";
    case Op::select: return "select";
    case Op::iadd: return "iadd";
    case Op::isub: return "isub";
    case Op::imul: return "imul";
    case Op::iand: return "iand";
    case Op::ior: return "ior";
    case Op::ixor: return "ixor";
    case Op::idiv: return "idiv";
    case Op::imod: return "imod";
    case Op::shift_left: return "shift_left";
    case Op::shift_right: return "shift_right";
    case Op::to_i32: return "to_i32";
  }
  return nullptr;
}

/// Operands that the operation has: 0 for constants, inputs and reduction results.
constexpr int operand_count(Op op) noexcept {
  switch (op) {
    case Op::constant: case Op::input: case Op::reduced: return 0;
    case Op::neg: case Op::sqrt: case Op::abs: case Op::mask_not: case Op::floor: case Op::sin: case Op::cos:
    case Op::tan: case Op::asin: case Op::acos: case Op::exp: case Op::log: case Op::tanh: case Op::to_f32:
    case Op::to_i32:
      return 1;
    case Op::fma: case Op::select: case Op::mul_add: case Op::mul_sub: case Op::sub_mul: return 3;
    default: return 2;
  }
}
// clang-format on

inline ValueType type_of(Row row) noexcept {
  return is_float(row) ? ValueType::f32 : ValueType::i32;
}
/// True when row e alone does not say which row is read or written.
inline bool in_loop(const Program& program, const Argument& argument) {
  return argument.reach == Reach::domain || argument.reach == Reach::pair ||
         (argument.reach == Reach::gather && program.arguments[argument.index].reach == Reach::pair);
}

}  // namespace nova
