// SPDX-License-Identifier: Apache-2.0
#include "manifest/nearest_name.hpp"

#include <algorithm>

#include "manifest/problems.hpp"  // joined()

namespace novaphy {
namespace {

/// Optimal string alignment distance: insert, delete, replace, swap neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_within(std::string_view name, const std::vector<std::string>& known,
                           std::size_t most_edits) {
  std::size_t best = most_edits + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    // each missing letter is an edit
    if (candidate.size() + best <= name.size() || name.size() + best <= candidate.size()) continue;
    const std::size_t distance = edits(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  return nearest_within(name, known, std::max<std::size_t>(1, name.size() / 3));
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         std::size_t most_edits) {
  const std::string nearest =
      nearest_within(name, known, std::min(most_edits, std::max<std::size_t>(1, name.size() / 3)));
  return nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?";
}

std::string known_names(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return {};
  const std::string nearest = did_you_mean(name, known);
  return (nearest.empty() ? "; there are: " : nearest + " There are: ") + joined(known);
}

}  // namespace novaphy
