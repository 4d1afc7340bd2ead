// SPDX-License-Identifier: Apache-2.0
// Matrix products by Eigen, on one thread and with fixed block sizes, so that sums have one order.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <memory>

#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/tensor_operations.hpp"

namespace nova {
namespace {

using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Const = Eigen::Map<const Matrix>;
using Mutable = Eigen::Map<Matrix>;

/// c (n, m) = a (n, k) b (k, m).
class MatMul final : public CustomOperation {
 public:
  MatMul(std::int64_t n, std::int64_t k, std::int64_t m) : n_(n), k_(k), m_(m) {}
  const char* name() const noexcept override { return "matmul"; }

  void forward(const Forward& f) const override {
    c(f.outputs[0]).noalias() = a(f.inputs[0]) * b(f.inputs[1]);
  }

  void backward(const Backward& back) const override {
    add_back(back.inputs, back.output_cotangents[0], back.input_cotangents);
  }

  void tangent(const Tangent& t) const override {
    Mutable to = c(t.output_tangents[0]);
    to.setZero();
    if (t.input_tangents[0]) to.noalias() += a(t.input_tangents[0]) * b(t.inputs[1]);
    if (t.input_tangents[1]) to.noalias() += a(t.inputs[0]) * b(t.input_tangents[1]);
  }

  void backward_tangent(const BackwardTangent& back) const override {
    add_back(back.inputs, back.output_cotangent_tangents[0], back.input_cotangent_tangents);
    const void* const moving[2] = {back.input_tangents[0], back.input_tangents[1]};
    add_back(moving, back.output_cotangents[0], back.input_cotangent_tangents);
  }

 private:
  Const a(const void* data) const { return {static_cast<const float*>(data), n_, k_}; }
  Const b(const void* data) const { return {static_cast<const float*>(data), k_, m_}; }
  Const c_bar(const float* data) const { return {data, n_, m_}; }
  Mutable c(void* data) const { return {static_cast<float*>(data), n_, m_}; }

  /// To a's cotangent c̄ bᵀ, to b's aᵀ c̄; a factor that is null is zero.
  void add_back(std::span<const void* const> factors, const float* cotangent,
                std::span<float* const> to) const {
    if (!cotangent) return;
    if (to[0] && factors[1]) Mutable(to[0], n_, k_).noalias() += c_bar(cotangent) * b(factors[1]).transpose();
    if (to[1] && factors[0]) Mutable(to[1], k_, m_).noalias() += a(factors[0]).transpose() * c_bar(cotangent);
  }

  std::int64_t n_, k_, m_;
};

// Eigen would cut its blocks, and with them its sums, by the caches of the processor.
void fix_block_sizes() {
  static const bool done = (Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20), true);
  (void)done;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  NOVAPHY_REQUIRE(a.dtype() == DType::f32 && b.dtype() == DType::f32, ErrorKind::type, "nova.matmul: a is ",
                  to_string(a.dtype()), " and b ", to_string(b.dtype()), ", float32 is wanted");
  const Shape &left = a.shape(), &right = b.shape();
  const bool fits = left.ndim() == 2 && (right.ndim() == 1 || right.ndim() == 2) && left[1] == right[0];
  NOVAPHY_REQUIRE(fits, ErrorKind::shape_mismatch, "nova.matmul: a has shape ", to_string(left), ", b ",
                  to_string(right), "; (n, k) and (k, m) or (k) are wanted");
  fix_block_sizes();
  Tensor result(right.ndim() == 1 ? Shape{left[0]} : Shape{left[0], right[1]});
  if (result.size() == 0) return result;
  apply(std::make_shared<MatMul>(left[0], left[1], right.ndim() == 1 ? 1 : right[1]), {a, b}, {result});
  return result;
}

}  // namespace nova
