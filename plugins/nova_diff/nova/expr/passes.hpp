// SPDX-License-Identifier: Apache-2.0
// Passes over programs: check, simplify, list.
#pragma once

#include <string>

#include "novaphy/nova/operations.hpp"
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

}  // namespace nova
