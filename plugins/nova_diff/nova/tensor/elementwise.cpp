// SPDX-License-Identifier: Apache-2.0
// Elementwise operations as kernels over rows of one number.
#include <array>
#include <memory>
#include <mutex>

#include "nova/tensor/checks.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor_operations.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

DeviceArray flat(const Tensor& tensor) {
  return DeviceArray(tensor.storage(), tensor.dtype(), Shape{tensor.size()});
}

/// An operation of two operands; one kernel for each way to read them, made on first need.
class Binary {
 public:
  using Body = Expr (*)(Expr, Expr);
  Binary(const char* name, Body body) : name_(name), body_(body) {}

  Tensor operator()(const TensorOrNumber& a, const TensorOrNumber& b) {
    const Tensor *const first = a.tensor(), *const second = b.tensor();
    NOVAPHY_REQUIRE(first || second, ErrorKind::type, "nova.", name_,
                    ": two numbers were given, a tensor is wanted");
    if (first) require_float(name_, *first);
    if (second) require_float(name_, *second);
    if (!first) return run(Reach::value, a.number(), reach(*second, *second), flat(*second), *second);
    if (!second) return run(reach(*first, *first), flat(*first), Reach::value, b.number(), *first);
    const Tensor& shape = first->size() == 1 && first->shape() != second->shape() ? *second : *first;
    const bool fits = first->shape() == second->shape() || first->size() == 1 || second->size() == 1;
    NOVAPHY_REQUIRE(fits, ErrorKind::shape_mismatch, "nova.", name_, ": the shapes ", shape_text(*first),
                    " and ", shape_text(*second), " differ");
    return run(reach(*first, shape), flat(*first), reach(*second, shape), flat(*second), shape);
  }

 private:
  static Reach reach(const Tensor& operand, const Tensor& shape) {
    return operand.size() == shape.size() ? Reach::row : Reach::uniform;
  }

  Tensor run(Reach a_reach, const Operand& a, Reach b_reach, const Operand& b, const Tensor& like) {
    Tensor result(like.shape());
    launch(kernel(a_reach, b_reach), {a, b}, {flat(result)}, result.size());
    return result;
  }

  const Kernel& kernel(Reach a, Reach b) {
    const auto at = static_cast<std::size_t>(a) * 3 + static_cast<std::size_t>(b);
    std::call_once(made_[at], [&] {
      In first = in("a", Row::f32), second = in("b", Row::f32);
      first.reach = a, second.reach = b;
      kernels_[at] = make_indexed_expr_kernel_typed_access_n(
          {.name = name_, .in = {first, second}, .out = {out("out", Row::f32)}},
          [&](KernelScope& k) { k.write("out", body_(k.f32("a"), k.f32("b"))); });
    });
    return kernels_[at];
  }

  const char* name_;
  Body body_;
  std::array<std::once_flag, 9> made_;  // row, uniform, value for either operand
  std::array<Kernel, 9> kernels_;
};

class Unary {
 public:
  template <class Body>
  Unary(const char* name, Body body)
      : kernel_(make_indexed_expr_kernel_typed_access_n(
            {.name = name, .in = {in("a", Row::f32)}, .out = {out("out", Row::f32)}},
            [&](KernelScope& k) { k.write("out", body(k.f32("a"))); })) {}
  Tensor operator()(const Tensor& a) const {
    require_float(kernel_.name(), a);
    Tensor result(a.shape());
    launch(kernel_, {flat(a)}, {flat(result)}, a.size());
    return result;
  }

 private:
  Kernel kernel_;
};

}  // namespace

Tensor add(const TensorOrNumber& a, const TensorOrNumber& b) {
  const auto is_row_of = [](const Tensor& row, const Tensor& all) {
    return all.shape().ndim() == 2 && row.shape().ndim() == 1 && row.size() > 1 &&
           row.size() == all.shape()[1];
  };
  if (a.tensor() && b.tensor()) {
    if (is_row_of(*b.tensor(), *a.tensor())) return add_row(*a.tensor(), *b.tensor());
    if (is_row_of(*a.tensor(), *b.tensor())) return add_row(*b.tensor(), *a.tensor());
  }
  static Binary run("add", [](Expr x, Expr y) { return x + y; });
  return run(a, b);
}

Tensor sub(const TensorOrNumber& a, const TensorOrNumber& b) {
  static Binary run("sub", [](Expr x, Expr y) { return x - y; });
  return run(a, b);
}

Tensor mul(const TensorOrNumber& a, const TensorOrNumber& b) {
  static Binary run("mul", [](Expr x, Expr y) { return x * y; });
  return run(a, b);
}

Tensor div(const TensorOrNumber& a, const TensorOrNumber& b) {
  static Binary run("div", [](Expr x, Expr y) { return x / y; });
  return run(a, b);
}

namespace {

// Products; one kernel for each exponent, made on first need.
Tensor whole_power(const Tensor& a, int exponent) {
  static std::array<std::once_flag, 9> made;
  static std::array<std::unique_ptr<const Unary>, 9> kernels;
  const auto at = static_cast<std::size_t>(exponent);
  std::call_once(made[at], [&] {
    kernels[at] = std::make_unique<const Unary>("pow", [&](Expr x) { return pow(x, exponent); });
  });
  return (*kernels[at])(a);
}

}  // namespace

Tensor pow(const TensorOrNumber& a, const TensorOrNumber& b) {
  if (a.tensor() && !b.tensor())
    for (int n = 0; n <= 8; ++n)
      if (b.number() == static_cast<float>(n)) return whole_power(*a.tensor(), n);
  static Binary run("pow", [](Expr x, Expr y) { return pow(x, y); });
  return run(a, b);
}

Tensor minimum(const TensorOrNumber& a, const TensorOrNumber& b) {
  static Binary run("minimum", [](Expr x, Expr y) { return min(x, y); });
  return run(a, b);
}

Tensor maximum(const TensorOrNumber& a, const TensorOrNumber& b) {
  static Binary run("maximum", [](Expr x, Expr y) { return max(x, y); });
  return run(a, b);
}

Tensor neg(const Tensor& a) {
  static const Unary run("neg", [](Expr x) { return -x; });
  return run(a);
}

Tensor abs(const Tensor& a) {
  static const Unary run("abs", [](Expr x) { return abs(x); });
  return run(a);
}

Tensor exp(const Tensor& a) {
  static const Unary run("exp", [](Expr x) { return exp(x); });
  return run(a);
}

Tensor log(const Tensor& a) {
  static const Unary run("log", [](Expr x) { return log(x); });
  return run(a);
}

Tensor tanh(const Tensor& a) {
  static const Unary run("tanh", [](Expr x) { return tanh(x); });
  return run(a);
}

Tensor sin(const Tensor& a) {
  static const Unary run("sin", [](Expr x) { return sin(x); });
  return run(a);
}

Tensor cos(const Tensor& a) {
  static const Unary run("cos", [](Expr x) { return cos(x); });
  return run(a);
}

Tensor sqrt(const Tensor& a) {
  static const Unary run("sqrt", [](Expr x) { return sqrt(x); });
  return run(a);
}

Tensor clamp(const Tensor& a, float low, float high) {
  require_float("clamp", a);
  NOVAPHY_REQUIRE(low <= high, ErrorKind::value, "nova.clamp: low is ", low, ", high is ", high,
                  "; give an interval");
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "clamp",
       .in = {in("a", Row::f32), in("low", Row::f32).value(), in("high", Row::f32).value()},
       .out = {out("out", Row::f32)}},
      [](KernelScope& k) { k.write("out", min(max(k.f32("a"), k.f32("low")), k.f32("high"))); });
  Tensor result(a.shape());
  launch(kernel, {flat(a), low, high}, {flat(result)}, a.size());
  return result;
}

Tensor sum(const Tensor& a) {
  require_float("sum", a);
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "sum", .in = {in("a", Row::f32)}, .out = {out("out", Row::f32).sum()}},
      [](KernelScope& k) { k.write("out", k.f32("a")); });
  Tensor result(Shape{1});
  launch(kernel, {flat(a)}, {result}, a.size());
  return result;
}

Tensor dot(const Tensor& a, const Tensor& b) {
  require_float("dot", a), require_float("dot", b);
  NOVAPHY_REQUIRE(a.shape() == b.shape(), ErrorKind::shape_mismatch, "nova.dot: the shapes ", shape_text(a),
                  " and ", shape_text(b), " differ");
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "dot", .in = {in("a", Row::f32), in("b", Row::f32)}, .out = {out("out", Row::f32).sum()}},
      [](KernelScope& k) { k.write("out", k.f32("a") * k.f32("b")); });
  Tensor result(Shape{1});
  launch(kernel, {flat(a), flat(b)}, {result}, a.size());
  return result;
}

Tensor norm(const Tensor& a) {
  return sqrt(dot(a, a));
}

}  // namespace nova
