// SPDX-License-Identifier: Apache-2.0
// Programs: what recording refuses, the listing, exact simplification.
#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("mistakes in a kernel body are told when it is recorded") {
  const auto make = [](auto body) {
    return make_indexed_expr_kernel_typed_access_n(
        {.name = "k", .in = {in("v", Row::vec3), in("p", Row::f32).pair()}, .out = {out("f", Row::f32)}},
        body);
  };
  check_error(ErrorKind::trace, "kernel 'k' has no input 'w'",
              [&] { make([](KernelScope& k) { k.write("f", k.f32("w")); }); });
  check_error(ErrorKind::trace, "kernel 'k': input 'v' has rows of 3 numbers, 1 were read",
              [&] { make([](KernelScope& k) { k.write("f", k.f32("v")); }); });
  check_error(ErrorKind::trace, "kernel 'k': output 'f' takes 1 numbers a row, 3 were written",
              [&] { make([](KernelScope& k) { k.write("f", k.vec3("v")); }); });
  check_error(ErrorKind::trace, "kernel 'k': output 'f' was never written",
              [&] { make([](KernelScope&) {}); });
  check_error(ErrorKind::trace, "kernel 'k': output 'f' is written twice",
              [&] { make([](KernelScope& k) { k.write("f", Expr(1.0f)), k.write("f", Expr(1.0f)); }); });
  check_error(ErrorKind::trace,
              "kernel 'k': input 'p' has one row per domain index; read it in the term of a reduction",
              [&] { make([](KernelScope& k) { k.write("f", k.f32("p")); }); });
  check_error(ErrorKind::trace, "kernel 'k': operand 1 of add was never given a value",
              [&] { make([](KernelScope& k) { k.write("f", k.vec3("v").x + Expr()); }); });
  check_error(ErrorKind::trace,
              "nova: a traced value was used outside of a kernel body; make kernels with "
              "nova::make_..._kernel_typed_access_n",
              [] { (void)Expr(1.0f); });
}

TEST_CASE("the listing shows a program") {
  CHECK(unary("affine",
              [](Expr a) {
                const Expr one(1.0f), two(2.0f);  // operands have no order of their own
                return a * two + one;
              })
            .text() ==
        "program affine\n  [0] %0 = input a.0\n  [0] %1 = constant 1\n  [0] %2 = constant 2\n  [0] %3 = mul "
        "%0 %2\n  [0] %4 = add %1 %3\n"
        "  out = %4\n");
}

TEST_CASE("simplification merges and drops operations without changing a bit") {
  CHECK(unary("k", [](Expr a) { return a * 1.0f; }).program().nodes.size() == 1);
  CHECK(unary("k", [](Expr a) { return -(-a); }).program().nodes.size() == 1);
  CHECK(unary("k", [](Expr a) { return a - 0.0f; }).program().nodes.size() == 1);
  CHECK(unary("k", [](Expr a) { return a + Expr(-0.0f); }).program().nodes.size() == 1);
  CHECK(unary("k", [](Expr a) { return a + 0.0f; }).program().nodes.size() == 3);  // -0 + 0 is +0
  CHECK(unary("k", [](Expr a) { return a * 0.0f; }).program().nodes.size() == 3);  // NaN, sign
  CHECK(unary("k", [](Expr a) { return a - a; }).program().nodes.size() == 2);     // infinity
  CHECK(binary("k", [](Expr a, Expr b) { return (a + b) * (b + a); }).program().nodes.size() == 4);
}

}  // namespace nova::test
