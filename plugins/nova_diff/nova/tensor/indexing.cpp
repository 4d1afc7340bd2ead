// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor: views where memory is packed, copies with strides elsewhere.
#include "novaphy/nova/indexing.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "nova/tensor/strided.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::ErrorKind;
using novaphy::Shape;

void check(const Shape& shape, std::span<const AxisRange> axes) {
  NOVAPHY_REQUIRE(static_cast<int>(axes.size()) == shape.ndim(), ErrorKind::index,
                  "nova.Tensor: ", axes.size(), " indices were given for a tensor of shape ",
                  to_string(shape));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const AxisRange& axis = axes[i];
    const std::int64_t extent = shape[static_cast<int>(i)], last = axis.start + (axis.count - 1) * axis.step;
    const bool inside =
        axis.count == 0 || (0 <= axis.start && axis.start < extent && 0 <= last && last < extent);
    NOVAPHY_REQUIRE(axis.count >= 0 && axis.step != 0 && inside, ErrorKind::index, "nova.Tensor: index ",
                    axis.start < 0 || axis.start >= extent ? axis.start : last, " is out of range for axis ",
                    i, " of shape ", to_string(shape));
  }
}

/// Single indices, then one range of neighbours, then whole axes: such elements follow each other in memory.
bool is_packed(const Shape& shape, std::span<const AxisRange> axes) {
  std::size_t i = 0;
  while (i < axes.size() && axes[i].count == 1) ++i;
  if (i < axes.size() && axes[i].step != 1 && axes[i].count > 1) return false;
  for (++i; i < axes.size(); ++i)
    if (axes[i].count != shape[static_cast<int>(i)] || axes[i].step != 1) return false;
  return true;
}

Strided place_of(const Shape& shape, std::span<const AxisRange> axes) {
  Strided place;
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    place.extents[i] = axes[i].count;
    place.strides[i] = axes[i].step * stride;
    place.offset += axes[i].start * stride;
    stride *= shape[static_cast<int>(i)];
  }
  return place;
}

DeviceArray packed_part(const DeviceArray& whole, const Strided& place, const Shape& shape) {
  const std::size_t size = novaphy::size_of(whole.dtype());
  return DeviceArray(novaphy::Storage::region(whole.storage(), static_cast<std::size_t>(place.offset) * size,
                                              static_cast<std::size_t>(shape.size()) * size),
                     whole.dtype(), shape);
}

}  // namespace

Shape selected_shape(std::span<const AxisRange> axes) {
  std::array<std::int64_t, Shape::kMaxDims> extents{};
  std::size_t count = 0;
  for (const AxisRange& axis : axes)
    if (!axis.single) extents[count++] = axis.count;
  return Shape(std::span<const std::int64_t>(extents.data(), count));
}

Tensor select(const Tensor& whole, std::span<const AxisRange> axes) {
  check(whole.shape(), axes);
  const Shape shape = selected_shape(axes);
  if (shape.size() == 0) return Tensor(shape, whole.dtype(), whole.array().device());
  const Strided place = place_of(whole.shape(), axes);
  if (is_packed(whole.shape(), axes)) return Tensor(packed_part(whole.array(), place, shape));
  Tensor part(shape, whole.dtype(), whole.array().device());
  copy_from_strided(whole.array(), place, part.array());
  return part;
}

void assign_selected(Tensor& whole, std::span<const AxisRange> axes, const Tensor& source) {
  check(whole.shape(), axes);
  const Shape shape = selected_shape(axes);
  NOVAPHY_REQUIRE(source.dtype() == whole.dtype(), ErrorKind::type, "nova.Tensor: ", to_string(whole.dtype()),
                  " is wanted for a part of this tensor, the source is ", to_string(source.dtype()));
  NOVAPHY_REQUIRE(source.shape() == shape, ErrorKind::shape_mismatch, "nova.Tensor: the part has shape ",
                  to_string(shape), ", the source ", to_string(source.shape()));
  if (shape.size() == 0) return;
  const Strided place = place_of(whole.shape(), axes);
  if (is_packed(whole.shape(), axes)) {
    Tensor part(packed_part(whole.array(), place, shape));
    part.assign(source);
  } else {
    copy_to_strided(source.array(), place, whole.array());
  }
}

}  // namespace nova
