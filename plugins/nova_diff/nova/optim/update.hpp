// SPDX-License-Identifier: Apache-2.0
// What all parameter updates check and share.
#pragma once

#include "novaphy/nova/optim.hpp"

namespace nova::update {

/// The gradient of `param` as a row of numbers, or rows of `width`.
novaphy::DeviceArray gradient(const char* who, const Tensor& param, int width = 1);
/// Refuses an open recording and a parameter that is not float32.
void check_param(const char* who, const Tensor& param);
void check_rate(const char* who, const Rate& rate);
/// `state` is float32 and of the shape of `param`.
void check_like(const char* who, const char* name, const Tensor& state, const Tensor& param);
/// A number that is finite and in [low, high).
void check_in(const char* who, const char* name, float value, float low, float high);
novaphy::DeviceArray rows_of(const Tensor& tensor, int width = 1);

/// The learning rate as an input: a number, or row 0 of a tensor.
inline In rate_input(bool is_tensor) {
  In rate = in("learning_rate", Row::f32);
  return is_tensor ? rate.uniform() : rate.value();
}
inline Operand operand(const Rate& rate) {
  return rate.is_tensor() ? Operand(rate.tensor()) : Operand(rate.number());
}
/// A kernel for each kind of rate.
struct RateKernels {
  Kernel number, tensor;
  template <class Make>
  explicit RateKernels(Make make) : number(make(false)), tensor(make(true)) {}
  const Kernel& of(const Rate& rate) const { return rate.is_tensor() ? tensor : number; }
};

}  // namespace nova::update
