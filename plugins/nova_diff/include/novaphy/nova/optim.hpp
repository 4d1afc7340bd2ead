// SPDX-License-Identifier: Apache-2.0
// Updates of parameters by their gradients, as kernels, and the optimisers SGD and Adam over them.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "novaphy/export.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// A learning rate: a number, which a captured graph freezes, or a float32 tensor of one element, which may
/// be written between replays.
class Rate {
 public:
  Rate(float number) : given_(number) {}
  Rate(Tensor tensor) : given_(std::move(tensor)) {}
  bool is_tensor() const noexcept { return given_.index() == 1; }
  const Tensor& tensor() const { return std::get<1>(given_); }
  float number() const { return std::get<0>(given_); }

 private:
  std::variant<float, Tensor> given_;
};

// All updates work in place on float32 parameters and read `param.grad()`. They are no part of a loss: inside
// an open recording they throw Error(generic), unless a NoGrad is alive. Without a gradient they throw
// Error(value).

/// param -= learning_rate * grad.
NOVAPHY_API void sgd_update_f32(const Tensor& param, const Rate& learning_rate);

/// velocity = momentum * velocity + grad, then param -= learning_rate * velocity. `velocity` has the shape of
/// param.
NOVAPHY_API void sgd_momentum_update_f32(const Tensor& param, const Tensor& velocity,
                                         const Rate& learning_rate, float momentum);

/// For each row of param, shape (n, 3): a gradient that is not finite counts as zero, one that is longer than
/// max_gradient_norm is shortened to it; then param -= learning_rate * gradient; a row that is then longer
/// than max_parameter_norm is shortened to it. Throws Error(shape_mismatch), and Error(value) for limits <=
/// 0.
NOVAPHY_API void sgd_update_vec3_clipped_f32(const Tensor& param, const Rate& learning_rate,
                                             float max_parameter_norm, float max_gradient_norm);

/// Adam of Kingma and Ba: t = step + 1; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g g;
/// param -= learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps); step = t.
/// `m` and `v` have the shape of param and start at zero; `step` is an int32 tensor of one element, the
/// number of updates that were made before this one.
NOVAPHY_API void adam_update_f32(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& step,
                                 const Rate& learning_rate, float beta1 = 0.9f, float beta2 = 0.999f,
                                 float eps = 1e-8f);

/// param = min(max(param, low), high). Needs no gradient.
NOVAPHY_API void clamp_update_f32(const Tensor& param, float low, float high);

namespace optim {

/// The interval that every parameter is brought back to after a step.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

/// What SGD and Adam have in common: the parameters, and a learning rate that a captured graph reads anew at
/// each replay.
class NOVAPHY_API Optimizer {
 public:
  virtual ~Optimizer();
  /// Updates every parameter that has a gradient. Throws Error(value) when none has.
  void step();
  /// Drops the gradients.
  void zero_grad();

  const std::vector<Tensor>& params() const noexcept { return params_; }
  float learning_rate() const { return rate_.item(); }
  /// Throws Error(value) unless finite and at least 0, Error(capture) inside a capture.
  void set_learning_rate(float rate);
  const Bounds& bounds() const noexcept { return bounds_; }

 protected:
  Optimizer(const char* name, std::vector<Tensor> params, float rate, Bounds bounds);
  virtual void update(std::size_t at, const Rate& rate) = 0;
  /// Zeros like each parameter.
  std::vector<Tensor> zeros() const;

 private:
  const char* name_;
  std::vector<Tensor> params_;
  Tensor rate_;
  Bounds bounds_;
};

/// sgd_update_f32, or sgd_momentum_update_f32 where momentum is not 0.
class NOVAPHY_API SGD final : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> params, float learning_rate, float momentum = 0.0f, Bounds bounds = {});
  float momentum() const noexcept { return momentum_; }
  /// One a parameter; empty without momentum.
  const std::vector<Tensor>& velocity() const noexcept { return velocity_; }

 private:
  void update(std::size_t at, const Rate& rate) override;
  float momentum_;
  std::vector<Tensor> velocity_;
};

/// adam_update_f32.
class NOVAPHY_API Adam final : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> params, float learning_rate = 1e-3f, float beta1 = 0.9f,
                float beta2 = 0.999f, float eps = 1e-8f, Bounds bounds = {});
  float beta1() const noexcept { return beta1_; }
  float beta2() const noexcept { return beta2_; }
  float eps() const noexcept { return eps_; }
  const std::vector<Tensor>& m() const noexcept { return m_; }
  const std::vector<Tensor>& v() const noexcept { return v_; }
  /// Updates of each parameter so far: int32 tensors of one element.
  const std::vector<Tensor>& steps() const noexcept { return steps_; }

 private:
  void update(std::size_t at, const Rate& rate) override;
  float beta1_, beta2_, eps_;
  std::vector<Tensor> m_, v_, steps_;
};

}  // namespace optim
}  // namespace nova
