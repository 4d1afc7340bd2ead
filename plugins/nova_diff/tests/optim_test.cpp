// SPDX-License-Identifier: Apache-2.0
// Parameter updates against the same formulas in double, and the texts of their mistakes.
#include "novaphy/nova/optim.hpp"

#include <cmath>
#include <limits>

#include "test_kernels.hpp"

namespace nova::test {
namespace {

/// Gives `param` the gradient `wanted`.
void set_gradient(Tensor& param, const std::vector<float>& wanted) {
  param.zero_grad();
  Tensor loss;
  Tape tape;
  {
    TapeScope scope(tape);
    loss = sum(mul(param, tensor(wanted, param.shape())));
  }
  tape.backward(loss);
}

void check_close(const std::vector<float>& got, const std::vector<double>& want, double relative) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(static_cast<double>(got[i]) - want[i]) <= relative * (std::abs(want[i]) + 1e-3));
  }
}

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("sgd_update_f32 subtracts the gradient times the rate, given as number or as tensor") {
  Tensor a = scalars({1, -2, 3}, true), b = scalars({1, -2, 3}, true);
  set_gradient(a, {0.5f, 0.25f, -4}), set_gradient(b, {0.5f, 0.25f, -4});
  sgd_update_f32(a, 0.1f);
  sgd_update_f32(b, scalars({0.1f}));
  CHECK(values(a) == values(b));
  check_close(values(a), {0.95, -2.025, 3.4}, 1e-6);
}

TEST_CASE(
    "the clipped update shortens gradients, then parameters, and takes a gradient that is not finite for "
    "zero") {
  Tensor x = tensor({1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 1, 0, 0, 0, 3e38f, 3e38f, 0}, Shape{6, 3}, true);
  set_gradient(x, {0.5f, 0, 0, kNan, 1, 1, kInf, 0, 0, 30, 0, 40, 0, 0, 0, 3e38f, -3e38f, 0});
  sgd_update_vec3_clipped_f32(x, 0.5f, 2.0f, 5.0f);
  // row 3: gradient (30, 0, 40) -> (3, 0, 4); (2, 2, 1) - 0.5 (3, 0, 4) = (0.5, 2, -1), then length 2
  const double factor = 2.0 / std::sqrt(0.25 + 4.0 + 1.0), corner = std::sqrt(2.0);
  check_close(values(x),
              {0.75, 0, 0, 0, 1, 0, 0, 0, 1, 0.5 * factor, 2 * factor, -factor, 0, 0, 0, corner, corner, 0},
              1e-6);
}

TEST_CASE("momentum adds up the gradients as documented") {
  Tensor x = scalars({1}, true), velocity = scalars({0});
  double want = 1, sum_of_gradients = 0;
  for (int i = 0; i < 20; ++i) {
    const float g = 0.3f * static_cast<float>(i) - 1.0f;
    set_gradient(x, {g});
    sgd_momentum_update_f32(x, velocity, 0.01f, 0.9f);
    sum_of_gradients = 0.9 * sum_of_gradients + g, want -= 0.01 * sum_of_gradients;
  }
  check_close(values(x), {want}, 1e-5);
}

TEST_CASE("Adam follows its formula in double, from the first step to the ten thousandth") {
  Tensor x = scalars({1, -1, 0.5f}, true), m = scalars({0, 0, 0}), v = scalars({0, 0, 0}),
         step = integers({0}, Shape{1});
  const double beta1 = static_cast<double>(0.9f), beta2 = static_cast<double>(0.999f);
  for (const std::int32_t start : {0, 10, 1000, 9999}) {
    step = integers({start}, Shape{1});
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> before = values(x), m0 = values(m), v0 = values(v);
      const std::vector<float> g{0.1f, -2.0f * static_cast<float>(i + 1), 1e-5f};
      set_gradient(x, g);
      adam_update_f32(x, m, v, step, 0.01f);
      const double t = start + i + 1;
      std::vector<double> want;
      for (std::size_t k = 0; k < 3; ++k) {
        const double m1 = beta1 * m0[k] + (1 - beta1) * g[k], v1 = beta2 * v0[k] + (1 - beta2) * g[k] * g[k];
        want.push_back(before[k] - 0.01 * (m1 / (1 - std::pow(beta1, t))) /
                                       (std::sqrt(v1 / (1 - std::pow(beta2, t))) + 1e-8));
      }
      check_close(values(x), want, 1e-6);
      CHECK(step.array().read<std::int32_t>()[0] == start + i + 1);
    }
  }
}

TEST_CASE("the bias corrections of Adam keep their precision at any step") {
  Tensor x = scalars({0}, true), m = scalars({1}), v = scalars({1});
  for (const std::int32_t before : {0, 1, 2, 6, 99, 12345, 1000000, 2147483646 - 1}) {
    CAPTURE(before);
    x.fill(0), m.fill(1), v.fill(1);
    const Tensor step = integers({before}, Shape{1});
    set_gradient(x, {1});
    adam_update_f32(x, m, v, step, 1.0f, 0.9f, 0.999f, 0.0f);
    const double t = before + 1.0;
    const double c1 = -std::expm1(t * std::log(static_cast<double>(0.9f)));
    const double c2 = -std::expm1(t * std::log(static_cast<double>(0.999f)));
    check_close(values(x), {-std::sqrt(c2) / c1}, 1e-6);
  }
}

TEST_CASE("optimisers keep their state, skip what has no gradient and stay within bounds") {
  Tensor a = scalars({1, 2}, true), b = scalars({3}, true), alone = scalars({1, 2}, true);
  optim::Adam adam({a, b}, 0.1f);
  Tensor m = scalars({0, 0}), v = scalars({0, 0}), step = integers({0}, Shape{1});
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad(), set_gradient(a, {1, -1}), set_gradient(alone, {1, -1});
    adam.step();
    adam_update_f32(alone, m, v, step, 0.1f);
  }
  CHECK(values(a) == values(alone));
  CHECK(values(b) == std::vector<float>{3});
  CHECK(adam.steps()[0].array().read<std::int32_t>()[0] == 5);

  optim::SGD sgd({a}, 1.0f, 0.0f, {.low = -1.0f, .high = 1.0f});
  set_gradient(a, {100, -100});
  sgd.step();
  CHECK(values(a) == std::vector<float>{-1, 1});
  sgd.set_learning_rate(0.5f);
  CHECK(sgd.learning_rate() == 0.5f);
}

TEST_CASE("mistakes with updates are told in one sentence") {
  Tensor x = tensor({1, 2, 3}, Shape{1, 3}, true), flat = scalars({1, 2}, true);
  check_error(ErrorKind::value,
              "nova.sgd_update_f32: a tensor has no gradient; set requires_grad and call tape.backward first",
              [&] { sgd_update_f32(x, 0.1f); });
  set_gradient(x, {1, 1, 1}), set_gradient(flat, {1, 1});
  check_error(ErrorKind::value,
              "nova.sgd_update_f32: learning_rate is -1; give a finite number of at least 0",
              [&] { sgd_update_f32(x, -1.0f); });
  check_error(ErrorKind::shape_mismatch,
              "nova.sgd_update_f32: learning_rate has shape (2), one element is wanted", [&] {
                sgd_update_f32(x, scalars({1, 2}));
              });
  check_error(ErrorKind::shape_mismatch,
              "nova.sgd_update_vec3_clipped_f32: the parameter has shape (2), (n, 3) is wanted",
              [&] { sgd_update_vec3_clipped_f32(flat, 0.1f, 1, 1); });
  check_error(ErrorKind::value,
              "nova.sgd_update_vec3_clipped_f32: max_parameter_norm is 0; give a number above 0",
              [&] { sgd_update_vec3_clipped_f32(x, 0.1f, 0, 1); });
  check_error(ErrorKind::value,
              "nova.sgd_update_vec3_clipped_f32: max_gradient_norm is -1; give a number above 0",
              [&] { sgd_update_vec3_clipped_f32(x, 0.1f, 1, -1); });
  check_error(ErrorKind::type, "nova.adam_update_f32: step is float32, int32 is wanted", [&] {
    adam_update_f32(flat, scalars({0, 0}), scalars({0, 0}), scalars({0}), 0.1f);
  });
  check_error(ErrorKind::shape_mismatch, "nova.adam_update_f32: m has shape (1), the parameter (2)", [&] {
    adam_update_f32(flat, scalars({0}), scalars({0, 0}), integers({0}, Shape{1}), 0.1f);
  });
  check_error(
      ErrorKind::value, "nova.adam_update_f32: beta2 is 1; give a number of at least 0 and below 1", [&] {
        adam_update_f32(flat, scalars({0, 0}), scalars({0, 0}), integers({0}, Shape{1}), 0.1f, 0.9f, 1.0f);
      });
  check_error(ErrorKind::value, "nova.optim.SGD: parameters 0 and 1 are the same array", [&] {
    optim::SGD({flat, flat}, 0.1f);
  });
  check_error(ErrorKind::value, "nova.optim.Adam: there are no parameters", [] { optim::Adam({}, 0.1f); });
  Tensor without = scalars({1}, true);
  optim::SGD sgd({without}, 0.1f);
  check_error(
      ErrorKind::value,
      "nova.optim.SGD.step: no parameter has a gradient; set requires_grad and call tape.backward first, and give the "
      "tensors that the loss depends on (a copy of a model's array is not that array)",
      [&] { sgd.step(); });
  Tape tape;
  const TapeScope scope(tape);
  check_error(
      ErrorKind::generic,
      "nova.sgd_update_f32: a tape records on this thread, and an update is no part of its loss; update "
      "after the 'with' block, or under nova.no_grad()",
      [&] { sgd_update_f32(x, 0.1f); });
  const NoGrad no_grad;
  sgd_update_f32(x, 0.1f);
}

}  // namespace nova::test
