// SPDX-License-Identifier: Apache-2.0
// The interpreter's operation for each operation of a program.
#pragma once

#include "nova/backend/machine.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

machine::Do machine_op(Op op) noexcept;

}  // namespace nova
