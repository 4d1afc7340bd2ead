// SPDX-License-Identifier: Apache-2.0
// Bounded loops in kernel bodies. They are unrolled: a program has no jumps, so its adjoint stays exact.
//
//   Expr y = nova::loop(4, [&](int, Expr guess) { return (guess + x / guess) * 0.5f; }, x);
//   Expr p = nova::loop(n, 8, [&](Int, Expr product) { return product * x; }, Expr(1.0f));  // x^n for n <= 8
#pragma once

#include <cstddef>

#include "novaphy/nova/expr.hpp"

namespace nova {

/// carry = body(k, carry) for k = 0 .. count-1. A program has at most 65,535 operations; making a kernel with
/// more throws Error(value) that names it.
template <class Body, class Carry>
Carry loop(int count, Body&& body, Carry carry) {
  for (int k = 0; k < count; ++k) carry = body(k, carry);
  return carry;
}

/// The same for a count that each row knows for itself, from 0 to `most`: a row whose count is reached keeps
/// its carry to the bit, and nothing flows back from the iterations that it does not make. Carry is Expr, or
/// any row type over it. A larger count makes `most` iterations.
template <class Body, class Carry>
Carry loop(Int count, int most, Body&& body, Carry carry) {
  for (int k = 0; k < most; ++k) {
    Carry next = body(Int(k), carry);
    const Mask runs = Int(k) < count;
    Expr before[RowTraits<Carry>::width];
    std::size_t at = 0;
    RowTraits<Carry>::visit(carry, [&](const Expr& number) { before[at++] = number; });
    at = 0;
    RowTraits<Carry>::visit(next, [&](Expr& number) { number = select(runs, number, before[at++]); });
    carry = next;
  }
  return carry;
}

}  // namespace nova
