// SPDX-License-Identifier: Apache-2.0
// Tensor: a packed array that takes part in recordings, often a view of an array of the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "novaphy/array.hpp"
#include "novaphy/export.hpp"

namespace nova {

/// A handle: copying shares the memory. All tensors over one Storage share one `requires_grad` flag and one
/// gradient.
class NOVAPHY_API Tensor {
 public:
  /// Empty: shape (0).
  Tensor() = default;
  /// A view of an array of the engine: same memory, nothing copied.
  explicit Tensor(novaphy::DeviceArray array) : array_(std::move(array)) {}
  /// Zeroed memory.
  explicit Tensor(novaphy::Shape shape, novaphy::DType dtype = novaphy::DType::f32,
                  novaphy::Device device = {})
      : array_(dtype, shape, device) {}
  template <class T>
  static Tensor from(std::span<const T> values, novaphy::Shape shape) {
    return Tensor(novaphy::DeviceArray::from(values, shape));
  }

  const novaphy::DeviceArray& array() const noexcept { return array_; }
  novaphy::DeviceArray& array() noexcept { return array_; }
  const std::shared_ptr<novaphy::Storage>& storage() const noexcept { return array_.storage(); }
  const novaphy::Shape& shape() const noexcept { return array_.shape(); }
  novaphy::DType dtype() const noexcept { return array_.dtype(); }
  std::int64_t rows() const noexcept { return array_.rows(); }
  std::int64_t size() const noexcept { return array_.size(); }

  bool requires_grad() const noexcept { return storage() && storage()->requires_grad(); }
  /// Asks backward to keep the gradient of this array. Throws Error(type) for integer arrays.
  Tensor& set_requires_grad(bool wanted);

  /// The gradient that backward left; empty before any backward and where the loss did not depend on this
  /// array. Throws Error(gradient_not_ready) inside an open recording.
  std::optional<Tensor> grad() const;
  /// Drops the gradient: grad() is empty again. That of the whole array, also through a slice.
  void zero_grad();

  /// The only element. Throws Error(value) unless size is 1.
  float item() const;

  // Writes. Inside a recording they are recorded: the gradient of what was there before ends here.
  /// Throws Error(value) for a number that an integer tensor cannot hold; `who` begins the message.
  void fill(double value, const char* who = "nova.Tensor.fill");
  void zero() { fill(0.0); }
  /// Copies `source` into this memory; gradient flows back to it. Throws Error(shape_mismatch) or
  /// Error(type).
  void assign(const Tensor& source);

  /// Rows [begin, end) without a copy; gradient flows through. Throws Error(index) outside of [0, rows].
  Tensor slice_rows(std::int64_t begin, std::int64_t end) const {
    return Tensor(array_.slice_rows(begin, end));
  }
  /// The same memory with another shape of as many elements; gradient flows through. Throws
  /// Error(shape_mismatch).
  Tensor reshape(const novaphy::Shape& shape) const;

  /// A copy in memory of its own; recorded, so gradient flows back through it.
  Tensor clone() const;
  /// A copy in memory of its own that no gradient flows through, for the present values taken as constants.
  Tensor detach() const;
  /// This tensor where it lies on that device. Throws Error(plugin_not_available) where the device has no
  /// backend.
  Tensor to(novaphy::Device device) const;

 private:
  novaphy::DeviceArray array_;
};

/// The tensor over an array of the engine: same memory, same gradient as every other view of it.
inline Tensor view(novaphy::DeviceArray& array) {
  return Tensor(array);
}

/// The gradient of an array of the engine, as Tensor::grad(). What `array.grad` is in Python.
NOVAPHY_API std::optional<novaphy::DeviceArray> grad_of(const novaphy::DeviceArray& array);

/// A recorded write into an array of the engine: later recorded steps read it, and its gradient flows back to
/// `source`.
NOVAPHY_API void assign(novaphy::DeviceArray& target, const Tensor& source);

/// For arrays that users set anew between recorded steps, such as external forces: what something else has
/// written into `array` since the open tape wrote it is its new value, and no gradient flows to the old one.
/// Without this, backward refuses a later recorded read. Nothing without an open tape.
NOVAPHY_API void accept_outside_write(const novaphy::DeviceArray& array);

}  // namespace nova

#include "novaphy/nova/tensor_operations.hpp"
