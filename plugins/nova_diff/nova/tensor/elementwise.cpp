// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on tensors of one shape, and the sum.
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::ErrorKind;
using novaphy::Shape;

DeviceArray flat(const Tensor& tensor) {
  return DeviceArray(tensor.storage(), tensor.dtype(), Shape{tensor.size()});
}

template <class Operation>
Kernel make(const char* name, Operation operation) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = name, .in = {in("a", Row::f32), in("b", Row::f32)}, .out = {out("out", Row::f32)}},
      [&](KernelScope& k) { k.write("out", operation(k.f32("a"), k.f32("b"))); });
}

Tensor run(const Kernel& kernel, const Tensor& a, const Tensor& b) {
  NOVAPHY_REQUIRE(a.shape() == b.shape(), ErrorKind::shape_mismatch, "nova.", kernel.name(), ": the shapes ",
                  to_string(a.shape()), " and ", to_string(b.shape()), " differ");
  Tensor result(a.shape());
  launch(kernel, {flat(a), flat(b)}, {flat(result)}, a.size());
  return result;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  static const Kernel kernel = make("add", [](Expr x, Expr y) { return x + y; });
  return run(kernel, a, b);
}

Tensor sub(const Tensor& a, const Tensor& b) {
  static const Kernel kernel = make("sub", [](Expr x, Expr y) { return x - y; });
  return run(kernel, a, b);
}

Tensor mul(const Tensor& a, const Tensor& b) {
  static const Kernel kernel = make("mul", [](Expr x, Expr y) { return x * y; });
  return run(kernel, a, b);
}

Tensor sum(const Tensor& a) {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "sum", .in = {in("a", Row::f32)}, .out = {out("out", Row::f32).sum()}},
      [](KernelScope& k) { k.write("out", k.f32("a")); });
  Tensor result(Shape{1});
  launch(kernel, {flat(a)}, {result}, a.size());
  return result;
}

}  // namespace nova
