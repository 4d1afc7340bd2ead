// SPDX-License-Identifier: Apache-2.0
// The optimisers: parameters, their state, and the learning rate as a tensor.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "nova/optim/update.hpp"
#include "novaphy/nova/tape.hpp"

namespace nova::optim {

using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

namespace {

void check_params(const char* name, const std::vector<Tensor>& params) {
  NOVAPHY_REQUIRE(!params.empty(), ErrorKind::value, "nova.optim.", name, ": there are no parameters");
  for (std::size_t i = 0; i < params.size(); ++i) {
    NOVAPHY_REQUIRE(params[i].dtype() == DType::f32, ErrorKind::type, "nova.optim.", name, ": parameter ", i,
                    " is ", to_string(params[i].dtype()), ", float32 is wanted");
    for (std::size_t other = 0; other < i; ++other)
      NOVAPHY_REQUIRE(!params[i].storage() || params[i].storage() != params[other].storage(),
                      ErrorKind::value, "nova.optim.", name, ": parameters ", other, " and ", i,
                      " are the same array");
  }
}

}  // namespace

Optimizer::Optimizer(const char* name, std::vector<Tensor> params, float rate, Bounds bounds)
    : name_(name), params_(std::move(params)), rate_(Shape{1}), bounds_(bounds) {
  check_params(name, params_);
  NOVAPHY_REQUIRE(bounds_.low <= bounds_.high, ErrorKind::value, "nova.optim.", name, ": bounds are ",
                  bounds_.low, " and ", bounds_.high, "; give an interval");
  set_learning_rate(rate);
}

Optimizer::~Optimizer() = default;

void Optimizer::set_learning_rate(float rate) {
  NOVAPHY_REQUIRE(rate >= 0.0f && std::isfinite(rate), ErrorKind::value, "nova.optim.", name_, ": lr is ",
                  rate, "; give a finite number of at least 0");
  rate_.array().write<float>()[0] = rate;
}

void Optimizer::zero_grad() {
  for (Tensor& param : params_) param.zero_grad();
}

void Optimizer::step() {
  for (const Tensor& param : params_)
    update::check_param((std::string("nova.optim.") + name_ + ".step").c_str(), param);
  bool updated = false;
  for (std::size_t at = 0; at < params_.size(); ++at) {
    if (!params_[at].grad()) continue;
    update(at, rate_);
    if (bounds_.low > -INFINITY || bounds_.high < INFINITY)
      clamp_update_f32(params_[at], bounds_.low, bounds_.high);
    updated = true;
  }
  NOVAPHY_REQUIRE(updated, ErrorKind::value, "nova.optim.", name_,
                  ".step: no parameter has a gradient; set requires_grad and call tape.backward first, "
                  "and give the tensors that the loss depends on (a copy of a model's array is not that array)");
}

std::vector<Tensor> Optimizer::zeros() const {
  std::vector<Tensor> out;
  for (const Tensor& param : params_) out.emplace_back(param.shape(), DType::f32, param.array().device());
  return out;
}

SGD::SGD(std::vector<Tensor> params, float learning_rate, float momentum, Bounds bounds)
    : Optimizer("SGD", std::move(params), learning_rate, bounds), momentum_(momentum) {
  update::check_in("nova.optim.SGD", "momentum", momentum, 0.0f, 1.0f);
  if (momentum_ != 0.0f) velocity_ = zeros();
}

void SGD::update(std::size_t at, const Rate& rate) {
  if (momentum_ == 0.0f)
    sgd_update_f32(params()[at], rate);
  else
    sgd_momentum_update_f32(params()[at], velocity_[at], rate, momentum_);
}

Adam::Adam(std::vector<Tensor> params, float learning_rate, float beta1, float beta2, float eps,
           Bounds bounds)
    : Optimizer("Adam", std::move(params), learning_rate, bounds), beta1_(beta1), beta2_(beta2), eps_(eps) {
  update::check_in("nova.optim.Adam", "beta1", beta1, 0.0f, 1.0f);
  update::check_in("nova.optim.Adam", "beta2", beta2, 0.0f, 1.0f);
  update::check_in("nova.optim.Adam", "eps", eps, 0.0f, INFINITY);
  m_ = zeros(), v_ = zeros();
  for (std::size_t i = 0; i < this->params().size(); ++i) steps_.emplace_back(Shape{1}, DType::i32);
}

void Adam::update(std::size_t at, const Rate& rate) {
  adam_update_f32(params()[at], m_[at], v_[at], steps_[at], rate, beta1_, beta2_, eps_);
}

}  // namespace nova::optim
