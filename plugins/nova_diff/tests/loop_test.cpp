// SPDX-License-Identifier: Apache-2.0
// Bounded loops: values, gradients, and the limit.
#include "novaphy/nova/loop.hpp"

#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("a loop with a constant count is its iterations") {
  const Kernel newton = unary("newton", [](Expr x) {
    return loop(
        6, [&](int, Expr guess) { return (guess + x / guess) * 0.5f; }, x);
  });
  Tensor x = scalars({4, 9}), y = scalars({0, 0});
  launch(newton, {x}, {y}, 2);
  CHECK(values(y) == std::vector<float>{2, 3});
}

TEST_CASE("a loop with a count of each row stops there, and so does its gradient") {
  const Kernel power = make_indexed_expr_kernel_typed_access_n(
      {.name = "power", .in = {in("x", Row::f32), in("n", Row::i32)}, .out = {out("y", Row::vec2)}},
      [](KernelScope& k) {
        const Expr x = k.f32("x");
        const Vec2E start{1.0f, 0.0f};
        k.write("y", loop(
                         k.i32("n"), 4,
                         [&](Int i, Vec2E c) {
                           return Vec2E{c.x * x, c.y + to_float(i)};
                         },
                         start));
      });
  Tensor x = scalars({3, 3, 3, 3, 0}, true), y(Shape{5, 2});
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(power, {x, integers({0, 1, 3, 9, 2}, Shape{5})}, {y}, 5);
  }
  CHECK(values(y) == std::vector<float>{1, 0, 3, 0, 27, 3, 81, 6, 0, 1});
  tape.backward(y, tensor({1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, Shape{5, 2}));
  CHECK(gradient(x) == std::vector<float>{0, 1, 27, 108, 0});
}

TEST_CASE("a loop that makes too many operations is refused by name") {
  check_error(ErrorKind::value, "program 'endless': has 80002 operations, 65535 is the most", [] {
    unary("endless", [](Expr x) {
      return loop(
                 80000, [](int, Expr c) { return sin(c); }, x) +
             x;
    });
  });
}

}  // namespace nova::test
