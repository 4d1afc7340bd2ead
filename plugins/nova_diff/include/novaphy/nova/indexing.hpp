// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor by axis: columns, strides, single rows. What lies packed in memory is a view, else a
// recorded copy.
#pragma once

#include <cstdint>
#include <span>

#include "novaphy/export.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// Indices start, start + step, ... of one axis, `count` of them. The step may be negative, not zero.
struct AxisRange {
  std::int64_t start = 0, count = 0, step = 1;
  bool single = false;  ///< one index (count 1): the result lacks this axis
};

/// The elements at all combinations of `axes`, one range an axis. A view where they follow each other in
/// memory (whole rows), so that writes through it reach `whole`; otherwise a copy. Gradient flows through
/// both. Throws Error(index).
NOVAPHY_API Tensor select(const Tensor& whole, std::span<const AxisRange> axes);

/// Writes `source`, which has the shape that select would give, to those elements; recorded. Throws
/// Error(shape_mismatch), Error(type), Error(index).
NOVAPHY_API void assign_selected(Tensor& whole, std::span<const AxisRange> axes, const Tensor& source);

/// The shape that select gives.
NOVAPHY_API novaphy::Shape selected_shape(std::span<const AxisRange> axes);

}  // namespace nova
