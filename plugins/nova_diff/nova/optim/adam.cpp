// SPDX-License-Identifier: Apache-2.0
// Adam as two kernels: one row that counts the step and finds the bias corrections, then the parameters.
#include <limits>

#include "nova/optim/update.hpp"

namespace nova {
namespace {

using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

/// 1 - beta^t for t in [0, 2^31), from c(n) = 1 - beta^n with c(a + b) = c(a) + c(b) (1 - c(a)): a form in
/// which rounding errors do not grow, unlike in the power itself.
Expr correction(const Int& t, const Expr& beta) {
  const Expr one(1.0f), two(2.0f);
  Expr sum(0.0f), of_power = one - beta;
  for (int bit = 0; bit < 31; ++bit) {
    const Mask present = (t & Int(1 << bit)) != Int(0);
    sum = select(present, sum + of_power * (one - sum), sum);
    of_power = of_power * (two - of_power);
  }
  return sum;
}

const Kernel& count_kernel() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "adam_count",
       .in = {in("step", Row::i32), in("beta1", Row::f32).value(), in("beta2", Row::f32).value()},
       .out = {out("step", Row::i32), out("corrections", Row::vec2)}},
      [](KernelScope& k) {
        const Int t = k.i32("step") + Int(1);
        k.write("step", t);
        k.write("corrections", Vec2E{correction(t, k.f32("beta1")), correction(t, k.f32("beta2"))});
      });
  return kernel;
}

Kernel make_update_kernel(bool rate_is_tensor) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "adam_update_f32",
       .in = {in("param", Row::f32), in("m", Row::f32), in("v", Row::f32), in("grad", Row::f32),
              in("corrections", Row::vec2).uniform(), update::rate_input(rate_is_tensor),
              in("beta1", Row::f32).value(), in("beta2", Row::f32).value(), in("eps", Row::f32).value()},
       .out = {out("param", Row::f32), out("m", Row::f32), out("v", Row::f32)}},
      [](KernelScope& k) {
        const Expr one(1.0f), g = k.f32("grad"), beta1 = k.f32("beta1"), beta2 = k.f32("beta2");
        const Vec2E corrections = k.vec2("corrections");
        const Expr m = beta1 * k.f32("m") + (one - beta1) * g;
        const Expr v = beta2 * k.f32("v") + (one - beta2) * (g * g);
        const Expr step = (m / corrections.x) / (sqrt(v / corrections.y) + k.f32("eps"));
        k.write("param", k.f32("param") - k.f32("learning_rate") * step);
        k.write("m", m);
        k.write("v", v);
      });
}

}  // namespace

void adam_update_f32(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& step,
                     const Rate& learning_rate, float beta1, float beta2, float eps) {
  constexpr const char* kWho = "nova.adam_update_f32";
  static const update::RateKernels kernels(make_update_kernel);
  update::check_param(kWho, param), update::check_rate(kWho, learning_rate);
  update::check_like(kWho, "m", m, param), update::check_like(kWho, "v", v, param);
  update::check_in(kWho, "beta1", beta1, 0.0f, 1.0f), update::check_in(kWho, "beta2", beta2, 0.0f, 1.0f);
  update::check_in(kWho, "eps", eps, 0.0f, std::numeric_limits<float>::infinity());
  NOVAPHY_REQUIRE(step.dtype() == DType::i32, ErrorKind::type, kWho, ": step is ", to_string(step.dtype()),
                  ", int32 is wanted");
  NOVAPHY_REQUIRE(step.size() == 1, ErrorKind::shape_mismatch, kWho, ": step has shape ",
                  to_string(step.shape()), ", one element is wanted");
  const auto grad = update::gradient(kWho, param), rows = update::rows_of(param), rows_m = update::rows_of(m),
             rows_v = update::rows_of(v), count = update::rows_of(step);
  const Tensor corrections(Shape{1, 2});
  launch(count_kernel(), {count, beta1, beta2}, {count, corrections}, 1);
  launch(kernels.of(learning_rate),
         {rows, rows_m, rows_v, grad, corrections, update::operand(learning_rate), beta1, beta2, eps},
         {rows, rows_m, rows_v}, param.size());
}

}  // namespace nova
