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
/// 0 passes; comparisons pass nothing; the arm of a select that is not taken receives 0 and can never give
/// NaN.
Cotangents cotangents(Rewriter& graph, Op op, const Operands& values, Bar bar, std::array<bool, 3> needed);

}  // namespace nova
