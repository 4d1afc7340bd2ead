// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/machine_operations.hpp"

namespace nova {

// clang-format off
machine::Do machine_op(Op op) noexcept {
  using machine::Do;
  switch (op) {
    case Op::add: return Do::add;
    case Op::sub: return Do::sub;
    case Op::mul: return Do::mul;
    case Op::div: return Do::div;
    case Op::neg: return Do::neg;
    case Op::fma: return Do::fma;
    case Op::sqrt: return Do::sqrt;
    case Op::abs: return Do::abs;
    case Op::min: return Do::min;
    case Op::max: return Do::max;
    case Op::zmul: return Do::zmul;
    case Op::zdiv: return Do::zdiv;
    case Op::mul_add: return Do::mul_add;
    case Op::mul_sub: return Do::mul_sub;
    case Op::sub_mul: return Do::sub_mul;
    case Op::floor: return Do::floor;
    case Op::sin: return Do::sin;
    case Op::cos: return Do::cos;
    case Op::tan: return Do::tan;
    case Op::asin: return Do::asin;
    case Op::acos: return Do::acos;
    case Op::atan2: return Do::atan2;
    case Op::exp: return Do::exp;
    case Op::log: return Do::log;
    case Op::pow: return Do::pow;
    case Op::tanh: return Do::tanh;
    case Op::to_f32: return Do::to_f32;
    case Op::less: return Do::less;
    case Op::less_equal: return Do::less_equal;
    case Op::equal: return Do::equal;
    case Op::iless: return Do::iless;
    case Op::iless_equal: return Do::iless_equal;
    case Op::iequal: return Do::iequal;
    case Op::mask_and: return Do::mask_and;
    case Op::mask_or: return Do::mask_or;
    case Op::mask_not: return Do::mask_not;
    case Op::select: return Do::select;
    case Op::iadd: return Do::iadd;
    case Op::isub: return Do::isub;
    case Op::imul: return Do::imul;
    case Op::iand: return Do::iand;
    case Op::ior: return Do::ior;
    case Op::ixor: return Do::ixor;
    case Op::idiv: return Do::idiv;
    case Op::imod: return Do::imod;
    case Op::shift_left: return Do::shift_left;
    case Op::shift_right: return Do::shift_right;
    case Op::to_i32: return Do::to_i32;
    case Op::constant: case Op::input: case Op::reduced: break;
  }
  return Do::copy;
}
// clang-format on

}  // namespace nova
