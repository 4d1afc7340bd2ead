// SPDX-License-Identifier: Apache-2.0
// Gradient descent: plain, with momentum, and with clipped rows of three.
#include <limits>

#include "nova/optim/update.hpp"
#include "novaphy/nova/tape.hpp"

namespace nova {

using novaphy::ErrorKind;

void sgd_update_f32(const Tensor& param, const Rate& learning_rate) {
  constexpr const char* kWho = "nova.sgd_update_f32";
  static const update::RateKernels kernels([](bool tensor) {
    return make_indexed_expr_kernel_typed_access_n(
        {.name = "sgd_update_f32",
         .in = {in("param", Row::f32), in("grad", Row::f32), update::rate_input(tensor)},
         .out = {out("param", Row::f32)}},
        [](KernelScope& k) { k.write("param", k.f32("param") - k.f32("learning_rate") * k.f32("grad")); });
  });
  update::check_param(kWho, param), update::check_rate(kWho, learning_rate);
  const auto grad = update::gradient(kWho, param), rows = update::rows_of(param);
  launch(kernels.of(learning_rate), {rows, grad, update::operand(learning_rate)}, {rows}, param.size());
}

void sgd_momentum_update_f32(const Tensor& param, const Tensor& velocity, const Rate& learning_rate,
                             float momentum) {
  constexpr const char* kWho = "nova.sgd_momentum_update_f32";
  static const update::RateKernels kernels([](bool tensor) {
    return make_indexed_expr_kernel_typed_access_n(
        {.name = "sgd_momentum_update_f32",
         .in = {in("param", Row::f32), in("velocity", Row::f32), in("grad", Row::f32),
                update::rate_input(tensor), in("momentum", Row::f32).value()},
         .out = {out("param", Row::f32), out("velocity", Row::f32)}},
        [](KernelScope& k) {
          const Expr velocity_now = k.f32("momentum") * k.f32("velocity") + k.f32("grad");
          k.write("param", k.f32("param") - k.f32("learning_rate") * velocity_now);
          k.write("velocity", velocity_now);
        });
  });
  update::check_param(kWho, param), update::check_rate(kWho, learning_rate);
  update::check_like(kWho, "velocity", velocity, param),
      update::check_in(kWho, "momentum", momentum, 0.0f, 1.0f);
  const auto grad = update::gradient(kWho, param), rows = update::rows_of(param),
             velocities = update::rows_of(velocity);
  launch(kernels.of(learning_rate), {rows, velocities, grad, update::operand(learning_rate), momentum},
         {rows, velocities}, param.size());
}

namespace {

/// `v`, or the vector of length `limit` along it where it is longer. Divides by the largest component first,
/// so that no square overflows.
Vec3E shortened(const Vec3E& v, const Expr& limit) {
  const Expr largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
  const Expr scale = select(largest > Expr(0.0f), largest, Expr(1.0f));
  const Vec3E unit{v.x / scale, v.y / scale, v.z / scale};
  const Expr norm = length(unit);
  const Expr factor = limit / select(norm > Expr(0.0f), norm, Expr(1.0f));
  return select(norm * scale > limit, unit * factor, v);
}

Vec3E finite_or_zero(const Vec3E& v) {
  const Expr zero(0.0f), most(std::numeric_limits<float>::max());
  const Mask finite = both(both(abs(v.x) <= most, abs(v.y) <= most), abs(v.z) <= most);
  return select(finite, v, Vec3E{zero, zero, zero});
}

}  // namespace

void sgd_update_vec3_clipped_f32(const Tensor& param, const Rate& learning_rate, float max_parameter_norm,
                                 float max_gradient_norm) {
  constexpr const char* kWho = "nova.sgd_update_vec3_clipped_f32";
  static const update::RateKernels kernels([](bool tensor) {
    return make_indexed_expr_kernel_typed_access_n(
        {.name = "sgd_update_vec3_clipped_f32",
         .in = {in("param", Row::vec3), in("grad", Row::vec3), update::rate_input(tensor),
                in("max_parameter_norm", Row::f32).value(), in("max_gradient_norm", Row::f32).value()},
         .out = {out("param", Row::vec3)}},
        [](KernelScope& k) {
          const Vec3E step = shortened(finite_or_zero(k.vec3("grad")), k.f32("max_gradient_norm"));
          k.write("param",
                  shortened(k.vec3("param") - step * k.f32("learning_rate"), k.f32("max_parameter_norm")));
        });
  });
  update::check_param(kWho, param), update::check_rate(kWho, learning_rate);
  NOVAPHY_REQUIRE(param.shape().ndim() == 2 && param.shape()[1] == 3, ErrorKind::shape_mismatch, kWho,
                  ": the parameter has shape ", to_string(param.shape()), ", (n, 3) is wanted");
  NOVAPHY_REQUIRE(max_parameter_norm > 0.0f, ErrorKind::value, kWho, ": max_parameter_norm is ",
                  max_parameter_norm, "; give a number above 0");
  NOVAPHY_REQUIRE(max_gradient_norm > 0.0f, ErrorKind::value, kWho, ": max_gradient_norm is ",
                  max_gradient_norm, "; give a number above 0");
  const auto grad = update::gradient(kWho, param, 3), rows = update::rows_of(param, 3);
  launch(kernels.of(learning_rate),
         {rows, grad, update::operand(learning_rate), max_parameter_norm, max_gradient_norm}, {rows},
         param.rows());
}

}  // namespace nova
