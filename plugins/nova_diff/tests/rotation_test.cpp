// SPDX-License-Identifier: Apache-2.0
// Conversions of rotations: round trips, the same bits in kernels, finite derivatives where they are
// singular.
#include "novaphy/rotation.hpp"

#include <cmath>
#include <random>

#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("rotation vectors and angles come back from their quaternions") {
  std::mt19937 rng(2);
  std::uniform_real_distribution<float> any(-1.4f, 1.4f);
  for (int i = 0; i < 200; ++i) {
    const novaphy::Vec3f v{any(rng), any(rng), any(rng)};
    const novaphy::Vec3f back = novaphy::rotation_vector(novaphy::quat_from_rotation_vector(v));
    const novaphy::Vec3f angles = novaphy::quat_to_rpy(novaphy::quat_from_rpy(v.x, v.y, v.z));
    for (const novaphy::Vec3f& d : {back - v, angles - v}) CHECK(novaphy::length(d) < 2e-5f);
  }
  CHECK(novaphy::length(novaphy::rotation_vector(novaphy::Quatf{0, 0, 0, -1})) == 0);
}

TEST_CASE("a quaternion a hair longer than one keeps its angles") {
  const float r = std::sqrt(0.5f) * (1.0f + 1e-6f);
  for (const float scale : {1.0f, 1.0f + 1e-6f, 1.0f - 1e-6f}) {
    const novaphy::Vec3f angles = novaphy::quat_to_rpy(novaphy::Quatf{0, r * scale, 0, r * scale});
    CHECK(std::isfinite(angles.x));
    CHECK(std::isfinite(angles.z));
    CHECK(std::abs(angles.y - 1.5707964f) < 2e-3f);
  }
}

TEST_CASE("the heading of a body at rest has a finite derivative, and none where its weight is 0") {
  const Kernel heading =
      make_indexed_expr_kernel_typed_access_n({.name = "heading",
                                               .in = {in("v", Row::vec2), in("weight", Row::f32).value()},
                                               .out = {out("loss", Row::f32)}},
                                              [](KernelScope& k) {
                                                const Vec2E v = k.vec2("v");
                                                k.write("loss", k.f32("weight") * atan2(v.y, v.x));
                                              });
  for (const float weight : {0.0f, 1.0f}) {
    Tensor v = tensor({0, 0}, Shape{1, 2}, true), loss(Shape{1});
    Tape tape;
    {
      const TapeScope scope(tape);
      launch(heading, {v, weight}, {loss}, 1);
    }
    tape.backward(loss);
    CHECK(gradient(v) == std::vector<float>{0, 0});
  }
}

TEST_CASE("derivatives of rotations are right at no rotation and finite at the poles") {
  const auto three = [](const char* name, auto f) {
    return make_indexed_expr_kernel_typed_access_n(
        {.name = name, .in = {in("q", Row::quat)}, .out = {out("v", Row::vec3)}},
        [&](KernelScope& k) { k.write("v", f(k.quat("q"))); });
  };
  const Kernel logarithm = three("log", [](const QuatE& q) { return novaphy::rotation_vector(q); });
  const Kernel angles = three("rpy", [](const QuatE& q) { return novaphy::quat_to_rpy(q); });
  const Kernel exponential = make_indexed_expr_kernel_typed_access_n(
      {.name = "exp", .in = {in("v", Row::vec3)}, .out = {out("q", Row::quat)}},
      [](KernelScope& k) { k.write("q", novaphy::quat_from_rotation_vector(k.vec3("v"))); });
  const auto differentiate = [](const Kernel& kernel, Tensor x, Shape result,
                                const std::vector<float>& seed) {
    Tensor y(result);
    Tape tape;
    {
      const TapeScope scope(tape);
      launch(kernel, {x}, {y}, 1);
    }
    tape.backward(y, tensor(seed, result));
    return gradient(x);
  };
  CHECK(differentiate(exponential, tensor({0, 0, 0}, Shape{1, 3}, true), Shape{1, 4}, {1, 2, 3, 4}) ==
        std::vector<float>{0.5f, 1, 1.5f});
  CHECK(differentiate(logarithm, tensor({0, 0, 0, 1}, Shape{1, 4}, true), Shape{1, 3}, {1, 2, 3}) ==
        std::vector<float>{2, 4, 6, 0});
  const float r = std::sqrt(0.5f);
  for (const float g : differentiate(angles, tensor({0, r, 0, r}, Shape{1, 4}, true), Shape{1, 3}, {1, 1, 1}))
    CHECK(std::isfinite(g));
}

}  // namespace nova::test
