// SPDX-License-Identifier: Apache-2.0
// What flows backwards: a cotangent, and whether it may be zero because an arm was not taken.
#pragma once

#include <array>
#include <cstdint>

#include "novaphy/nova/program.hpp"

namespace nova {

/// `guarded`: the cotangent passed a select, so it is zero where the other arm was taken; a product with it
/// must not turn an infinite partial derivative of that arm into NaN.
struct Bar {
  std::uint32_t node = kNone;  ///< kNone = structurally zero: no path
  bool guarded = false;
};

/// The forward values that a rule may use.
struct Operands {
  std::uint32_t self = kNone;
  std::array<std::uint32_t, 3> operand{kNone, kNone, kNone};
};

struct Cotangents {
  std::array<Bar, 3> operand;
};

}  // namespace nova
