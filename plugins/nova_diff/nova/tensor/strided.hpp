// SPDX-License-Identifier: Apache-2.0
// Recorded copies between packed memory and places with strides, of any element type.
#pragma once

#include <array>
#include <cstdint>

#include "novaphy/array.hpp"

namespace nova {

/// Places in an array, in elements. Axes that are not used have extent 1.
struct Strided {
  std::int64_t offset = 0;
  std::array<std::int64_t, novaphy::Shape::kMaxDims> extents{1, 1, 1, 1}, strides{};

  std::int64_t count() const noexcept { return extents[0] * extents[1] * extents[2] * extents[3]; }
  /// action(number of the element, its place), in row-major order.
  template <class Action>
  void for_each(Action action) const {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < extents[0]; ++i)
      for (std::int64_t j = 0; j < extents[1]; ++j)
        for (std::int64_t k = 0; k < extents[2]; ++k)
          for (std::int64_t l = 0; l < extents[3]; ++l)
            action(at++, offset + i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3]);
  }
};

/// The elements of `whole` at `place`, into the packed `part`.
void copy_from_strided(const novaphy::DeviceArray& whole, const Strided& place, novaphy::DeviceArray& part);
/// `part` to the elements of `whole` at `place`; the others stay. `part` may lie in `whole`.
void copy_to_strided(const novaphy::DeviceArray& part, const Strided& place, novaphy::DeviceArray& whole);
/// All elements. `from` may overlap `to`.
void copy_packed(const novaphy::DeviceArray& from, novaphy::DeviceArray& to);

}  // namespace nova
