// SPDX-License-Identifier: Apache-2.0
// The running leaf of a sum over rows. Compiled for several instruction sets, hence the anonymous namespace.
#pragma once

#include "nova/backend/machine.hpp"
#include "nova/backend/quads.hpp"

namespace nova::machine {
namespace {

/// Adds a block to the running leaf of a sum: leaves of 256 rows over 16 lanes, row r in lane r % 16.
inline void add_to_leaf(const Binding& b, std::int64_t sum, std::int64_t row, int n, const Real* x) {
  Real* const lane = b.lanes + 16 * sum;
  if (b.rows == 1) {
    b.leaves[sum] = x[0];
    return;
  }
  while (n > 0) {
    const int offset = static_cast<int>(row % 16), count = n < 16 - offset ? n : 16 - offset;
    for (int j = 0; j < count; ++j) lane[offset + j] += x[j];
    x += count, row += count, n -= count;
    if (row % 256 != 0 && row != b.rows) continue;
    for (int half = 8; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lane[j] += lane[j + half];
    b.leaves[sum * b.leaf_count + (row - 1) / 256] = lane[0];
    for (int j = 0; j < 16; ++j) lane[j] = 0.0f;
  }
}

}  // namespace
}  // namespace nova::machine
