// SPDX-License-Identifier: Apache-2.0
// The one order in which a sum over rows is taken.
#pragma once

#include <cstdint>

namespace nova {

inline constexpr std::int64_t kLeafRows = 256;

/// Leaves of 256 rows, summed over 16 fixed lanes in row order, lanes folded 8-4-2-1, leaves folded in pairs.
float tree_sum(const float* values, std::int64_t count);

/// The last part of it. Overwrites the leaves; 0 when there are none.
float fold_leaves(float* leaves, std::int64_t count);

}  // namespace nova
