// SPDX-License-Identifier: Apache-2.0
// Passes over programs: check, simplify, list.
#pragma once

#include <string>

#include "novaphy/nova/program.hpp"

namespace nova {

/// Throws Error(value), naming program and operation, when the program is not well formed.
void verify(const Program& program);
/// The same for a program that can be launched and differentiated: no part of an adjoint.
void verify_launchable(const Program& program);

/// The same function with fewer operations: equal ones merged, unused ones gone. No result changes by a bit.
Program simplify(const Program& program);

/// A listing for people, one operation a line.
std::string listing(const Program& program);

const char* name_of(Op op) noexcept;
/// Operands that the operation has: 0 for constants, inputs and reduction results.
int operand_count(Op op) noexcept;
inline ValueType type_of(Row row) noexcept {
  return is_float(row) ? ValueType::f32 : ValueType::i32;
}
/// True when row e alone does not say which row is read or written.
inline bool in_loop(const Program& program, const Argument& argument) {
  return argument.reach == Reach::domain || argument.reach == Reach::pair ||
         (argument.reach == Reach::gather && program.arguments[argument.index].reach == Reach::pair);
}

}  // namespace nova
