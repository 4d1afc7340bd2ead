// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/sums.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace nova {
namespace {

float leaf(const float* values, std::int64_t count) {
  std::array<float, 16> lane{};
  for (std::int64_t i = 0; i < count; ++i) lane[static_cast<std::size_t>(i % 16)] += values[i];
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

}  // namespace

float tree_sum(const float* values, std::int64_t count) {
  if (count <= 1) return count == 1 ? values[0] : 0.0f;
  std::vector<float> leaves;
  for (std::int64_t at = 0; at < count; at += kLeafRows)
    leaves.push_back(leaf(values + at, std::min(kLeafRows, count - at)));
  return fold_leaves(leaves.data(), static_cast<std::int64_t>(leaves.size()));
}

float fold_leaves(float* leaves, std::int64_t count) {
  while (count > 1) {
    std::int64_t to = 0;
    for (std::int64_t from = 0; from < count; from += 2)
      leaves[to++] = from + 1 < count ? leaves[from] + leaves[from + 1] : leaves[from];
    count = to;
  }
  return count == 0 ? 0.0f : leaves[0];
}

}  // namespace nova
