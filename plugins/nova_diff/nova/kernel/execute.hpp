// SPDX-License-Identifier: Apache-2.0
// Runs lowered code over all rows: threads, sums, scatters.
#pragma once

#include <cstdint>
#include <cstddef>

#include "nova/kernel/code.hpp"

namespace nova {

/// Arguments and outputs in the program's order. Results do not depend on threads, block width or instruction
/// set.
void execute(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
             std::int64_t domain);

/// The same on one build and block width, on this thread: what tests compare.
void execute_with(machine::Run run, int lanes, const Code& code, const void* const* arguments,
                  void* const* outputs, std::int64_t rows, std::int64_t domain);

/// Leaves of 256 rows, summed over 16 fixed lanes in row order, lanes folded 8-4-2-1, leaves folded in pairs.
float tree_sum(const float* values, std::int64_t count);

}  // namespace nova
