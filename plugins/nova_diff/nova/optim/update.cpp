// SPDX-License-Identifier: Apache-2.0
// The checks of parameter updates, and the projection to an interval.
#include "nova/optim/update.hpp"

#include <cmath>

#include "novaphy/nova/tape.hpp"

namespace nova {
namespace update {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

namespace {

std::string name_of(const Tensor& tensor) {
  return tensor.storage() ? to_string(tensor.storage()->label()) : "an empty tensor";
}

}  // namespace

DeviceArray rows_of(const Tensor& tensor, int width) {
  const Shape shape = width == 1 ? Shape{tensor.size()} : Shape{tensor.size() / width, width};
  return DeviceArray(tensor.storage(), tensor.dtype(), shape);
}

void check_param(const char* who, const Tensor& param) {
  NOVAPHY_REQUIRE(
      !is_recording(), ErrorKind::generic, who,
      ": a tape records on this thread, and an update is no part of its loss; update after the 'with' "
      "block, or under nova.no_grad()");
  NOVAPHY_REQUIRE(param.dtype() == DType::f32, ErrorKind::type, who, ": the parameter is ",
                  to_string(param.dtype()), ", float32 is wanted");
}

DeviceArray gradient(const char* who, const Tensor& param, int width) {
  const std::optional<Tensor> grad = param.grad();
  NOVAPHY_REQUIRE(grad.has_value(), ErrorKind::value, who, ": ", name_of(param),
                  " has no gradient; set requires_grad and call tape.backward first");
  return rows_of(*grad, width);
}

void check_rate(const char* who, const Rate& rate) {
  if (!rate.is_tensor()) {
    NOVAPHY_REQUIRE(rate.number() >= 0.0f && std::isfinite(rate.number()), ErrorKind::value, who,
                    ": learning_rate is ", rate.number(), "; give a finite number of at least 0");
    return;
  }
  NOVAPHY_REQUIRE(rate.tensor().dtype() == DType::f32, ErrorKind::type, who,
                  ": learning_rate is a tensor of ", to_string(rate.tensor().dtype()), ", float32 is wanted");
  NOVAPHY_REQUIRE(rate.tensor().size() == 1, ErrorKind::shape_mismatch, who, ": learning_rate has shape ",
                  to_string(rate.tensor().shape()), ", one element is wanted");
}

void check_like(const char* who, const char* name, const Tensor& state, const Tensor& param) {
  NOVAPHY_REQUIRE(state.dtype() == DType::f32, ErrorKind::type, who, ": ", name, " is ",
                  to_string(state.dtype()), ", float32 is wanted");
  NOVAPHY_REQUIRE(state.shape() == param.shape(), ErrorKind::shape_mismatch, who, ": ", name, " has shape ",
                  to_string(state.shape()), ", the parameter ", to_string(param.shape()));
}

void check_in(const char* who, const char* name, float value, float low, float high) {
  NOVAPHY_REQUIRE(value >= low && value < high, ErrorKind::value, who, ": ", name, " is ", value,
                  "; give a number of at least ", low, " and below ", high);
}

}  // namespace update

void clamp_update_f32(const Tensor& param, float low, float high) {
  constexpr const char* kWho = "nova.clamp_update_f32";
  update::check_param(kWho, param);
  NOVAPHY_REQUIRE(low <= high, novaphy::ErrorKind::value, kWho, ": low is ", low, ", high is ", high,
                  "; give an interval");
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "clamp_update_f32",
       .in = {in("param", Row::f32), in("low", Row::f32).value(), in("high", Row::f32).value()},
       .out = {out("param", Row::f32)}},
      [](KernelScope& k) { k.write("param", min(max(k.f32("param"), k.f32("low")), k.f32("high"))); });
  const NoGrad no_grad;
  const auto rows = update::rows_of(param);
  launch(kernel, {rows, low, high}, {rows}, param.size());
}

}  // namespace nova
