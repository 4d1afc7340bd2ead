// SPDX-License-Identifier: Apache-2.0
// What a launch checks again whenever it is replayed.
#pragma once

#include <span>

#include "nova/kernel/compiled.hpp"

namespace nova {

/// Throws Error(index) for an index that is too large. Contents are looked at once a version.
void check_indices(const Kernel::Compiled& kernel, std::span<const Operand> inputs,
                   std::span<const Operand> outputs);

}  // namespace nova
