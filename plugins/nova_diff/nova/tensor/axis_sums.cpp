// SPDX-License-Identifier: Apache-2.0
// Sums along one axis and their transpose, adding a row to every row.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "nova/tensor/checks.hpp"
#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/tensor_operations.hpp"

namespace nova {
namespace {

using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

/// An array as (outer, n, inner), of which n is the axis in question.
struct Axis {
  std::int64_t outer = 1, n = 1, inner = 1;

  /// sums[o, i] += all[o, k, i], k = 0 .. n-1 in this order.
  void add_up(const float* all, float* sums) const {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < inner; ++i) sums[o * inner + i] += all[(o * n + k) * inner + i];
  }
  /// all[o, k, i] += row[o, i].
  void spread(const float* row, float* all) const {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < inner; ++i) all[(o * n + k) * inner + i] += row[o * inner + i];
  }
  std::int64_t all_count() const { return outer * n * inner; }
  std::int64_t sum_count() const { return outer * inner; }
};

class SumAxis final : public CustomOperation {
 public:
  explicit SumAxis(Axis axis) : axis_(axis) {}
  const char* name() const noexcept override { return "sum_axis"; }
  void forward(const Forward& f) const override {
    sum_into(static_cast<const float*>(f.inputs[0]), static_cast<float*>(f.outputs[0]));
  }
  void backward(const Backward& b) const override {
    if (b.input_cotangents[0] && b.output_cotangents[0])
      axis_.spread(b.output_cotangents[0], b.input_cotangents[0]);
  }
  void tangent(const Tangent& t) const override { sum_into(t.input_tangents[0], t.output_tangents[0]); }
  void backward_tangent(const BackwardTangent& b) const override {
    if (b.input_cotangent_tangents[0] && b.output_cotangent_tangents[0])
      axis_.spread(b.output_cotangent_tangents[0], b.input_cotangent_tangents[0]);
  }

 private:
  void sum_into(const float* all, float* sums) const {
    std::fill_n(sums, axis_.sum_count(), 0.0f);
    if (all) axis_.add_up(all, sums);
  }
  Axis axis_;
};

class AddRow final : public CustomOperation {
 public:
  explicit AddRow(Axis axis) : axis_(axis) {}
  const char* name() const noexcept override { return "add_row"; }
  void forward(const Forward& f) const override {
    add_into(static_cast<const float*>(f.inputs[0]), static_cast<const float*>(f.inputs[1]),
             static_cast<float*>(f.outputs[0]));
  }
  void backward(const Backward& b) const override { add_back(b.output_cotangents[0], b.input_cotangents); }
  void tangent(const Tangent& t) const override {
    add_into(t.input_tangents[0], t.input_tangents[1], t.output_tangents[0]);
  }
  void backward_tangent(const BackwardTangent& b) const override {
    add_back(b.output_cotangent_tangents[0], b.input_cotangent_tangents);
  }

 private:
  void add_into(const float* all, const float* row, float* to) const {
    if (all)
      std::copy_n(all, axis_.all_count(), to);
    else
      std::fill_n(to, axis_.all_count(), 0.0f);
    if (row) axis_.spread(row, to);
  }
  void add_back(const float* cotangent, std::span<float* const> to) const {
    if (!cotangent) return;
    if (to[0])
      for (std::int64_t i = 0; i < axis_.all_count(); ++i) to[0][i] += cotangent[i];
    if (to[1]) axis_.add_up(cotangent, to[1]);
  }
  Axis axis_;
};

int axis_of(const char* operation, const Tensor& a, int axis) {
  const int ndim = a.shape().ndim();
  NOVAPHY_REQUIRE(-ndim <= axis && axis < ndim, ErrorKind::value, "nova.", operation, ": axis is ", axis,
                  ", the tensor has shape ", to_string(a.shape()));
  return axis < 0 ? axis + ndim : axis;
}

}  // namespace

Tensor sum(const Tensor& a, int axis) {
  require_float("sum", a);
  const int at = axis_of("sum", a, axis);
  Axis split{.n = a.shape()[at]};
  std::array<std::int64_t, Shape::kMaxDims> left{};
  std::size_t count = 0;
  for (int i = 0; i < a.shape().ndim(); ++i) {
    if (i == at) continue;
    (i < at ? split.outer : split.inner) *= a.shape()[i];
    left[count++] = a.shape()[i];
  }
  Tensor result{Shape(std::span<const std::int64_t>(left.data(), count))};
  apply(std::make_shared<SumAxis>(split), {CustomInput(a).value_not_needed()}, {result});
  return result;
}

Tensor mean(const Tensor& a) {
  NOVAPHY_REQUIRE(a.size() > 0, ErrorKind::value, "nova.mean: the tensor has shape ", to_string(a.shape()),
                  ", at least one element is wanted");
  return div(sum(a), static_cast<float>(a.size()));
}

Tensor mean(const Tensor& a, int axis) {
  const std::int64_t count = a.shape()[axis_of("mean", a, axis)];
  NOVAPHY_REQUIRE(count > 0, ErrorKind::value, "nova.mean: the tensor has shape ", to_string(a.shape()),
                  ", at least one element along axis ", axis, " is wanted");
  return div(sum(a, axis), static_cast<float>(count));
}

Tensor add_row(const Tensor& a, const Tensor& row) {
  require_float("add_row", a), require_float("add_row", row);
  NOVAPHY_REQUIRE(a.shape().ndim() == 2 && row.shape() == Shape{a.shape()[1]}, ErrorKind::shape_mismatch,
                  "nova.add_row: a has shape ", to_string(a.shape()), ", row ", to_string(row.shape()),
                  "; (n, m) and (m) are wanted");
  Tensor result(a.shape());
  apply(std::make_shared<AddRow>(Axis{.n = a.shape()[0], .inner = a.shape()[1]}),
        {CustomInput(a).value_not_needed(), CustomInput(row).value_not_needed()}, {result});
  return result;
}

}  // namespace nova
