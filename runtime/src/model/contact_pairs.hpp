// SPDX-License-Identifier: Apache-2.0
// Which shapes may collide.
#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

namespace novaphy {

/// The columns of Model that decide.
struct CollidingShapes {
  std::span<const int> body, world, group, flags;
  const std::set<std::pair<int, int>>& filtered;  ///< (smaller, larger)
};

/// Pairs (a < b), sorted: shapes that collide at all, of different bodies (the world is one body), of the
/// same world or one of them of all worlds, of groups that match, and not filtered. Flat: a0, b0, a1, b1, ...
std::vector<int> contact_pairs(const CollidingShapes& shapes);

}  // namespace novaphy
