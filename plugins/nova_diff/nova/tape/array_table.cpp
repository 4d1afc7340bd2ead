// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/array_table.hpp"

namespace nova {

std::size_t ArrayTable::start(const novaphy::Storage* key) const noexcept {
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
  return static_cast<std::size_t>((bits >> 4) * 0x9E3779B97F4A7C15ull >> 32) & (cells_.size() - 1);
}

std::uint32_t ArrayTable::find(const novaphy::Storage* key) const noexcept {
  if (cells_.empty()) return kNone;
  for (std::size_t i = start(key);; i = (i + 1) & (cells_.size() - 1)) {
    if (cells_[i].key == key) return cells_[i].index;
    if (cells_[i].key == nullptr) return kNone;
  }
}

std::uint32_t& ArrayTable::at(const novaphy::Storage* key) {
  if (2 * used_ >= cells_.size()) grow();
  for (std::size_t i = start(key);; i = (i + 1) & (cells_.size() - 1)) {
    if (cells_[i].key == key) return cells_[i].index;
    if (cells_[i].key == nullptr) {
      ++used_;
      cells_[i].key = key;
      return cells_[i].index;
    }
  }
}

void ArrayTable::grow() {
  std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
  old.swap(cells_);
  for (const Cell& cell : old) {
    if (cell.key == nullptr) continue;
    std::size_t i = start(cell.key);
    while (cells_[i].key != nullptr) i = (i + 1) & (cells_.size() - 1);
    cells_[i] = cell;
  }
}

}  // namespace nova
