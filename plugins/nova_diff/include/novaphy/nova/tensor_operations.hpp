// SPDX-License-Identifier: Apache-2.0
// Operations on whole tensors: elementwise functions, sums, matrix products. All are recorded and
// differentiable.
//
// Operands have one shape; a number or a tensor with one element goes with any shape. There is no other
// broadcasting but add_row. Throw Error(shape_mismatch), and Error(type) for anything but float32.
#pragma once

#include <cstdint>
#include <optional>

#include "novaphy/export.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// An operand of an elementwise function. Never owns.
class TensorOrNumber {
 public:
  TensorOrNumber(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  TensorOrNumber(float number) noexcept : number_(number) {}
  const Tensor* tensor() const noexcept { return tensor_; }
  float number() const noexcept { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  float number_ = 0.0f;
};

/// A row (m) is added to every row of (n, m): see add_row.
NOVAPHY_API Tensor add(const TensorOrNumber& a, const TensorOrNumber& b);
NOVAPHY_API Tensor sub(const TensorOrNumber& a, const TensorOrNumber& b);
NOVAPHY_API Tensor mul(const TensorOrNumber& a, const TensorOrNumber& b);
NOVAPHY_API Tensor div(const TensorOrNumber& a, const TensorOrNumber& b);
/// The power as a kernel computes it; a * a for the number 2.
NOVAPHY_API Tensor pow(const TensorOrNumber& a, const TensorOrNumber& b);
/// C fmin and fmax: of a number and a NaN the number. Equal operands: the second, which gets the gradient.
NOVAPHY_API Tensor minimum(const TensorOrNumber& a, const TensorOrNumber& b);
NOVAPHY_API Tensor maximum(const TensorOrNumber& a, const TensorOrNumber& b);

NOVAPHY_API Tensor neg(const Tensor& a);
NOVAPHY_API Tensor abs(const Tensor& a);  ///< derivative 1 at 0
NOVAPHY_API Tensor exp(const Tensor& a);
NOVAPHY_API Tensor log(const Tensor& a);
NOVAPHY_API Tensor tanh(const Tensor& a);
NOVAPHY_API Tensor sin(const Tensor& a);
NOVAPHY_API Tensor cos(const Tensor& a);
NOVAPHY_API Tensor sqrt(const Tensor& a);  ///< derivative 0 at 0
/// min(max(a, low), high). Throws Error(value) unless low <= high.
NOVAPHY_API Tensor clamp(const Tensor& a, float low, float high);

/// Of all elements, shape (1). Order: leaves of 256 rows, folded in pairs, whatever the number of threads.
NOVAPHY_API Tensor sum(const Tensor& a);
/// Along one axis (negative: from the end), which goes; in the order of the index. Throws Error(value) for an
/// axis that `a` does not have.
NOVAPHY_API Tensor sum(const Tensor& a, int axis);
/// sum divided by the number of elements. Throws Error(value) when there are none.
NOVAPHY_API Tensor mean(const Tensor& a);
NOVAPHY_API Tensor mean(const Tensor& a, int axis);
/// The sum of products of all elements, shape (1), in the order of sum.
NOVAPHY_API Tensor dot(const Tensor& a, const Tensor& b);
/// The square root of dot(a, a), shape (1). Its gradient at zero is zero.
NOVAPHY_API Tensor norm(const Tensor& a);

/// (n, k) times (k, m) or (k). The same bits on one machine at any number of threads.
NOVAPHY_API Tensor matmul(const Tensor& a, const Tensor& b);
/// `row` (m) added to every row of `a` (n, m). Its gradient is the sum over the rows in their order.
NOVAPHY_API Tensor add_row(const Tensor& a, const Tensor& row);

}  // namespace nova
