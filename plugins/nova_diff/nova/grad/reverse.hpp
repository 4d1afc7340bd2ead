// SPDX-License-Identifier: Apache-2.0
// Reverse mode: a program that maps cotangents of outputs to cotangents of inputs.
#pragma once

#include <cstdint>

#include "novaphy/nova/program.hpp"

namespace nova {

/// The adjoint of a simplified program. `wanted`: bit i = argument i; `seeded`: bit k = output k has a
/// cotangent. Its arguments are those of the program, then one cotangent for each seeded output. Its outputs
/// are the cotangents of the wanted arguments, added to what is there, in order of the arguments.
Program reverse(const Program& program, std::uint64_t wanted, std::uint64_t seeded);

}  // namespace nova
