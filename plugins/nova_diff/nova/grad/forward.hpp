// SPDX-License-Identifier: Apache-2.0
// Forward mode: a program that maps tangents of inputs to tangents of outputs.
#pragma once

#include <cstdint>

#include "novaphy/nova/program.hpp"

namespace nova {

/// The tangent program of a simplified program, an adjoint as well. `moving`: bit i = argument i has a
/// tangent. Its arguments are those of the program, then the tangents of the moving ones in order, read the
/// same way. Its outputs are the tangents of the float outputs in order, written the way these are: set,
/// added, scattered or summed. A set output that does not move is set to zero, any other keeps what is there.
Program forward(const Program& program, std::uint64_t moving);

}  // namespace nova
