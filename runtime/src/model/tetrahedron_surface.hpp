// SPDX-License-Identifier: Apache-2.0
// The outside of a set of tetrahedra.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace novaphy {

/// The faces that belong to one tetrahedron only, in the order in which they were first seen, turning outwards.
class TetrahedronSurface {
 public:
  using Face = std::array<int, 3>;

  void add_tetrahedron(int i, int j, int k, int l) {
    for (const Face& face : {Face{i, k, j}, Face{j, k, l}, Face{i, j, l}, Face{i, l, k}}) add(face);
  }
  std::vector<Face> faces() const {
    std::vector<Face> out;
    for (const Face& face : seen_)
      if (face[0] >= 0) out.push_back(face);
    return out;
  }

 private:
  void add(const Face& face) {
    Face sorted = face;
    std::sort(sorted.begin(), sorted.end());
    const auto [entry, is_new] = place_.try_emplace(sorted, seen_.size());
    if (is_new)
      seen_.push_back(face);
    else
      seen_[entry->second] = {-1, -1, -1};
  }
  std::vector<Face> seen_;
  std::map<Face, std::size_t> place_;
};

}  // namespace novaphy
