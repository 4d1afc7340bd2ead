// SPDX-License-Identifier: Apache-2.0
// Which shapes may collide: Newton's rules.
#include "model/contact_pairs.hpp"

#include <algorithm>
#include <map>

#include "novaphy/types.hpp"

namespace novaphy {
namespace {

/// A positive group collides with itself and with all negative ones, a negative group with all but itself.
bool groups_match(int a, int b) {
  if (a == 0 || b == 0) return false;
  return a > 0 ? (a == b || b < 0) : a != b;
}

}  // namespace

std::vector<int> contact_pairs(const CollidingShapes& shapes) {
  const int count = static_cast<int>(shapes.body.size());
  const auto at = [](std::span<const int> column, int i) { return column[static_cast<std::size_t>(i)]; };
  const auto collides = [&](int i) {
    return (at(shapes.flags, i) & ShapeFlags::COLLIDE_SHAPES) != 0 && at(shapes.group, i) != 0;
  };
  // Candidates by world, so that thousands of worlds do not cost the square of all their shapes.
  std::vector<int> all, of_no_world;
  std::map<int, std::vector<int>> of_world;
  for (int i = 0; i < count; ++i) {
    if (!collides(i)) continue;
    all.push_back(i);
    if (at(shapes.world, i) < 0)
      of_no_world.push_back(i);
    else
      of_world[at(shapes.world, i)].push_back(i);
  }
  for (auto& [world, members] : of_world) {
    const auto middle = static_cast<std::ptrdiff_t>(members.size());
    members.insert(members.end(), of_no_world.begin(), of_no_world.end());
    std::inplace_merge(members.begin(), members.begin() + middle, members.end());
  }
  std::vector<int> pairs;
  for (const int a : all) {
    const std::vector<int>& candidates = at(shapes.world, a) < 0 ? all : of_world[at(shapes.world, a)];
    for (auto b = std::upper_bound(candidates.begin(), candidates.end(), a); b != candidates.end(); ++b) {
      const bool same_body = std::max(at(shapes.body, a), -1) == std::max(at(shapes.body, *b), -1);
      if (same_body || !groups_match(at(shapes.group, a), at(shapes.group, *b))) continue;
      if (shapes.filtered.contains({a, *b})) continue;
      pairs.insert(pairs.end(), {a, *b});
    }
  }
  return pairs;
}

}  // namespace novaphy
