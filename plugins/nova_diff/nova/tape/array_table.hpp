// SPDX-License-Identifier: Apache-2.0
// Storage* -> number of the array on the tape; open addressing, since every recorded argument looks itself
// up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "novaphy/array.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

class ArrayTable {
 public:
  /// The place of `key`; `*place == kNone` when it is new, and the caller fills it.
  std::uint32_t& at(const novaphy::Storage* key);
  std::uint32_t find(const novaphy::Storage* key) const noexcept;
  void clear() { cells_.clear(), used_ = 0; }
  std::size_t bytes() const noexcept { return cells_.capacity() * sizeof(Cell); }

 private:
  struct Cell {
    const novaphy::Storage* key = nullptr;
    std::uint32_t index = kNone;
  };
  std::size_t start(const novaphy::Storage* key) const noexcept;
  void grow();
  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace nova
