// SPDX-License-Identifier: Apache-2.0
// Small kernels and helpers that several tests use.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova::test {
using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::Error;
using novaphy::ErrorKind;
using novaphy::Shape;

inline Tensor tensor(const std::vector<float>& values, Shape shape, bool requires_grad = false) {
  Tensor out = Tensor::from<float>(std::span<const float>(values), shape);
  return out.set_requires_grad(requires_grad);
}
inline Tensor scalars(const std::vector<float>& values, bool requires_grad = false) {
  return tensor(values, Shape{static_cast<std::int64_t>(values.size())}, requires_grad);
}
inline Tensor integers(const std::vector<std::int32_t>& values, Shape shape) {
  return Tensor::from<std::int32_t>(std::span<const std::int32_t>(values), shape);
}
inline std::vector<float> values(const Tensor& tensor) {
  const auto all = tensor.array().read<float>();
  return {all.begin(), all.end()};
}
inline std::vector<float> gradient(const Tensor& tensor) {
  const auto grad = tensor.grad();
  REQUIRE(grad.has_value());
  return values(*grad);
}

/// The kind and text of the error that `action` throws.
template <class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return Error("");
}
template <class Action>
void check_error(ErrorKind kind, const std::string& text, Action&& action) {
  const Error error = error_of(action);
  CHECK(std::string(error.what()) == text);
  CHECK(error.kind() == kind);
}

/// out = f(a)
template <class F>
Kernel unary(const char* name, F f) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = name, .in = {in("a", Row::f32)}, .out = {out("out", Row::f32)}},
      [&](KernelScope& k) { k.write("out", f(k.f32("a"))); });
}
/// out = f(a, b)
template <class F>
Kernel binary(const char* name, F f) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = name, .in = {in("a", Row::f32), in("b", Row::f32)}, .out = {out("out", Row::f32)}},
      [&](KernelScope& k) { k.write("out", f(k.f32("a"), k.f32("b"))); });
}

inline const Kernel& twice() {
  static const Kernel kernel = unary("twice", [](Expr a) { return a * 2.0f; });
  return kernel;
}
inline const Kernel& thrice() {
  static const Kernel kernel = unary("thrice", [](Expr a) { return a * 3.0f; });
  return kernel;
}
inline const Kernel& square() {
  static const Kernel kernel = unary("square", [](Expr a) { return a * a; });
  return kernel;
}

}  // namespace nova::test
