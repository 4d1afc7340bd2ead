// SPDX-License-Identifier: Apache-2.0
// The table of derivatives.
#pragma once

#include <array>

#include "nova/expr/rewriter.hpp"
#include "nova/grad/cotangents.hpp"

namespace nova {

/// Cotangents of the operands of one operation, from that of its result. Only operands in `needed` get one.
///
/// At singular points: the derivative of sqrt at 0 is 0; ties of min and max go to the second operand; abs at
/// 0 passes; floor, conversions and comparisons pass nothing; asin and acos pass nothing at their ends and
/// beyond; atan2 passes nothing at the origin; pow(a, b) by a is 0 at a = 0 where b < 1, by b is 0 where
/// a <= 0; a quotient and a logarithm at 0 pass nothing where the cotangent is 0; the arm of a select that is
/// not taken receives 0 and can never give NaN.
Cotangents cotangents(Rewriter& graph, Op op, const Operands& values, Bar bar, std::array<bool, 3> needed);

/// Where min or max gives its first operand: also where the second is NaN.
std::uint32_t takes_first(Rewriter& graph, Op op, std::uint32_t a, std::uint32_t b);

}  // namespace nova
