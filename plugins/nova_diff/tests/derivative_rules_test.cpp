// SPDX-License-Identifier: Apache-2.0
// Derivatives at singular points, ties and edges: one line of the table each, alone and as one of 1,000 rows.
#include <cmath>
#include <limits>

#include "novaphy/elementary.hpp"
#include "novaphy/math.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// d(sum of weights * f(a, b)) by a and b.
std::array<std::vector<float>, 2> differentiate(const Kernel& kernel, const std::vector<float>& a,
                                                const std::vector<float>& b,
                                                const std::vector<float>& weights) {
  Tensor x = scalars(a, true), y = scalars(b, true), out(Shape{static_cast<std::int64_t>(a.size())});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {x, y}, {out}, out.rows());
  }
  tape.backward(out, scalars(weights));
  const auto of = [](const Tensor& t) {
    return t.grad() ? values(*t.grad()) : std::vector<float>(static_cast<std::size_t>(t.size()), 0.0f);
  };
  return {of(x), of(y)};
}

struct Case {
  const char* what;
  Kernel kernel;
  float a, b;    ///< the point
  float da, db;  ///< derivatives there, for weight 1
};

template <class F>
Kernel two(F f) {
  return binary("k", f);
}
Vec3E planar(Expr a, Expr b) {
  return {a, b, 0.0f};
}
Expr clamp(Expr a) {
  return min(max(Expr(-1.0f), a), 1.0f);
}

// clang-format off
std::vector<Case> table() {
  return {
      {"sqrt at 0", two([](Expr a, Expr b) { return sqrt(a) + b; }), 0, 1, 0, 1},
      {"sqrt at 4", two([](Expr a, Expr b) { return sqrt(a) + b; }), 4, 1, 0.25f, 1},
      {"square by the root at 0", two([](Expr a, Expr b) { return sqrt(a * a + b * b); }), 0, 0, 0, 0},
      {"dot(v, v) at 0", two([](Expr a, Expr b) { return a * a + b * b; }), 0, 0, 0, 0},
      {"min at a tie", two([](Expr a, Expr b) { return min(a, b); }), 2, 2, 0, 1},
      {"min below", two([](Expr a, Expr b) { return min(a, b); }), 1, 2, 1, 0},
      {"max at a tie", two([](Expr a, Expr b) { return max(a, b); }), 2, 2, 0, 1},
      {"max above", two([](Expr a, Expr b) { return max(a, b); }), 3, 2, 1, 0},
      {"clamp inside", two([](Expr a, Expr) { return clamp(a); }), 0.5f, 0, 1, 0},
      {"clamp at its lower edge", two([](Expr a, Expr) { return clamp(a); }), -1, 0, 1, 0},
      {"clamp at its upper edge", two([](Expr a, Expr) { return clamp(a); }), 1, 0, 0, 0},
      {"clamp outside", two([](Expr a, Expr) { return clamp(a); }), 2, 0, 0, 0},
      {"abs at 0", two([](Expr a, Expr) { return abs(a); }), 0, 0, 1, 0},
      {"abs below 0", two([](Expr a, Expr) { return abs(a); }), -3, 0, -1, 0},
      {"sign times v", two([](Expr a, Expr) { return select(a > 0.0f, 1.0f, -1.0f) * a; }), -3, 0, -1, 0},
      {"division", two([](Expr a, Expr b) { return a / b; }), 1, 2, 0.5f, -0.25f},
      {"select, arm taken",
       two([](Expr a, Expr b) { return select(b > 0.0f, a / b, a); }), 1, 2, 0.5f, -0.25f},
      {"select, infinite arm not taken",
       two([](Expr a, Expr b) { return select(b > 0.0f, a / b, a); }), 1, 0, 1, 0},
      {"select, NaN arm not taken",
       two([](Expr a, Expr b) { return select(b > 0.0f, sqrt(b) * a / b, a); }), 1, -1, 1, 0},
      {"fma", two([](Expr a, Expr b) { return fma(a, b, a); }), 3, 5, 6, 3},
      {"unit length at 0", two([](Expr a, Expr b) { return normalize(planar(a, b)).x; }), 0, 0, 0, 0},
      {"length at 0", two([](Expr a, Expr b) { return length(planar(a, b)); }), 0, 0, 0, 0},
      {"drag -c |v| v at rest",
       two([](Expr a, Expr b) { return Expr(-0.5f) * length(planar(a, b)) * a; }), 0, 0, 0, 0},
      {"sin at 0", two([](Expr a, Expr b) { return sin(a) * b; }), 0, 2, 2, 0},
      {"cos at 0", two([](Expr a, Expr b) { return cos(a) * b; }), 0, 2, 0, 1},
      {"tan at 0", two([](Expr a, Expr b) { return tan(a) * b; }), 0, 2, 2, 0},
      {"exp at 0", two([](Expr a, Expr b) { return exp(a) * b; }), 0, 2, 2, 1},
      {"log at 2", two([](Expr a, Expr b) { return log(a) * b; }), 2, 4, 2, novaphy::log(2.0f)},
      {"log of 0 in an arm not taken",
       two([](Expr a, Expr b) { return select(a > 0.0f, log(a), b); }), 0, 3, 0, 1},
      {"log of 0 times a vanishing function", two([](Expr a, Expr b) { return log(max(a, b)); }), 0, 2, 0, 0.5f},
      {"tanh at 0", two([](Expr a, Expr b) { return tanh(a) * b; }), 0, 2, 2, 0},
      {"tanh far out", two([](Expr a, Expr b) { return tanh(a) * b; }), 50, 2, 0, 1},
      {"asin at 0", two([](Expr a, Expr b) { return asin(a) * b; }), 0, 2, 2, 0},
      {"asin at its end", two([](Expr a, Expr b) { return asin(a) + b; }), 1, 0, 0, 1},
      {"asin beyond its end", two([](Expr a, Expr b) { return asin(a) + b; }), -1.5f, 0, 0, 1},
      {"acos at 0", two([](Expr a, Expr b) { return acos(a) + b; }), 0, 0, -1, 1},
      {"acos at its end", two([](Expr a, Expr b) { return acos(a) + b; }), 1, 0, 0, 1},
      {"acos beyond its end", two([](Expr a, Expr b) { return acos(a) + b; }), 1.0000001f, 0, 0, 1},
      {"atan2", two([](Expr a, Expr b) { return atan2(a, b); }), 3, 4, 0.16f, -0.12f},
      {"atan2 at the origin", two([](Expr a, Expr b) { return atan2(a, b); }), 0, 0, 0, 0},
      {"atan2 where squares underflow",
       two([](Expr a, Expr b) { return atan2(a, b); }), 0, 0x1p-100f, 0x1p100f, 0},
      {"atan2 where squares overflow", two([](Expr a, Expr b) { return atan2(a, b); }), 0x1p100f, 0, 0, -0x1p-100f},
      {"pow", two([](Expr a, Expr b) { return pow(a, b); }), 4, 2, 8, 16 * novaphy::log(4.0f)},
      {"pow of 0, exponent above 1", two([](Expr a, Expr b) { return pow(a, b); }), 0, 2, 0, 0},
      {"pow of 0, exponent 1", two([](Expr a, Expr b) { return pow(a, b); }), 0, 1, 1, 0},
      {"pow of 0, exponent below 1", two([](Expr a, Expr b) { return pow(a, b); }), 0, 0.5f, 0, 0},
      {"pow of 0, exponent 0", two([](Expr a, Expr b) { return pow(a, b); }), 0, 0, 0, 0},
      {"pow of 0, exponent below 0", two([](Expr a, Expr b) { return pow(a, b); }), 0, -1, 0, 0},
      {"pow of a number below 0", two([](Expr a, Expr b) { return pow(a, b); }), -2, 3, 12, 0},
      {"whole power of a number below 0", two([](Expr a, Expr b) { return pow(a, 3) + b; }), -2, 3, 12, 1},
      {"whole power of 0", two([](Expr a, Expr b) { return pow(a, 2) + b; }), 0, 3, 0, 1},
      {"power 1 of 0", two([](Expr a, Expr b) { return pow(a, 1) * b; }), 0, 3, 3, 0},
      {"power 0 of 0", two([](Expr a, Expr b) { return pow(a, 0) * b; }), 0, 3, 0, 1},
      {"power beyond products", two([](Expr a, Expr b) { return pow(a, 9) + b; }), -1, 3, 9, 1},
      {"a number over an infinite one", two([](Expr a, Expr b) { return a / (b / a); }), 0, 1, 0, 0},
      {"a product with an infinite factor below a fraction line",
       two([](Expr a, Expr b) { return 1.0f / ((1.0f / a) * b); }), 0, 2, 0, 0},
      {"a sum with an infinite part below a fraction line",
       two([](Expr a, Expr b) { return b / (1.0f + 1.0f / a); }), 0, 2, 0, 0},
      {"exp of minus infinity", two([](Expr a, Expr b) { return exp(-b / a) * b; }), 0, 2, 0, 0},
      {"tanh of infinity", two([](Expr a, Expr b) { return tanh(b * (1.0f / a)) + b; }), 0, 2, 0, 1},
      {"atan2 of infinity", two([](Expr a, Expr b) { return atan2(b * (1.0f / a), 1.0f) * b; }), 0, 2, 0,
       novaphy::atan2(kInfinity, 1.0f)},
      {"a fraction with infinity below in an arm not taken",
       two([](Expr a, Expr b) { return select(a > 0.0f, b / (b / a * b), b); }), 0, 2, 0, 1},
      {"floor", two([](Expr a, Expr b) { return floor(a) * b; }), 2.5f, 3, 0, 2},
      {"to int and back", two([](Expr a, Expr b) { return to_float(to_int(a)) * b; }), 2.5f, 3, 0, 2},
      {"quaternion without length",
       two([](Expr a, Expr b) { return normalize(QuatE{a, b, 0.0f, 0.0f}).x; }), 0, 0, 0, 0},
  };
}
// clang-format on

}  // namespace

TEST_CASE("derivatives at singular points, with weight 1 and 0, alone and among 1,000 rows") {
  for (const Case& c : table()) {
    INFO(c.what);
    const auto [da, db] = differentiate(c.kernel, {c.a}, {c.b}, {1});
    CHECK(da[0] == c.da);
    CHECK(db[0] == c.db);
    const auto [za, zb] = differentiate(c.kernel, {c.a}, {c.b}, {0});
    CHECK(za[0] == 0);
    CHECK(zb[0] == 0);
    // among others, which stay as they are
    std::vector<float> a(1000, 0.75f), b(1000, 1.25f), weights(1000, 1.0f);
    const auto [plain_a, plain_b] = differentiate(c.kernel, a, b, weights);
    a[500] = c.a, b[500] = c.b;
    const auto [many_a, many_b] = differentiate(c.kernel, a, b, weights);
    CHECK(many_a[500] == c.da);
    CHECK(many_b[500] == c.db);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i == 500) continue;
      REQUIRE(many_a[i] == plain_a[i]);
      REQUIRE(many_b[i] == plain_b[i]);
    }
  }
}

TEST_CASE("a division by zero is annihilated where nobody asks for it, and honest where somebody does") {
  const Kernel quotient = binary("quotient", [](Expr a, Expr b) { return a / b; });
  CHECK(differentiate(quotient, {1}, {0}, {0})[0][0] == 0);
  CHECK(differentiate(quotient, {1}, {0}, {0})[1][0] == 0);
  CHECK(differentiate(quotient, {1}, {0}, {1})[0][0] == kInfinity);
}

TEST_CASE("a whole number as exponent gives the same products in a kernel and in the engine") {
  static const std::array<Kernel, 10> kernels = [] {
    std::array<Kernel, 10> out;
    for (int n = 0; n < 10; ++n)
      out[static_cast<std::size_t>(n)] = unary("power", [&](Expr a) { return pow(a, n); });
    return out;
  }();
  const std::vector<float> some{-1.7f, -0.0f, 0.3f, 1.1f, 2.9f, kInfinity};
  for (int n = 0; n < 10; ++n) {
    Tensor y(Shape{6});
    launch(kernels[static_cast<std::size_t>(n)], {scalars(some)}, {y}, 6);
    for (std::size_t i = 0; i < some.size(); ++i) CHECK(values(y)[i] == novaphy::pow(some[i], n));
  }
  CHECK(novaphy::pow(1.1f, 5) == (1.1f * 1.1f) * (1.1f * 1.1f) * 1.1f);
  CHECK(novaphy::pow(1.1f, 9) == novaphy::pow(1.1f, 9.0f));
}

TEST_CASE("the squared length of a vanishing difference has the gradient zero") {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "squared", .in = {in("a", Row::vec3), in("b", Row::vec3)}, .out = {out("out", Row::f32)}},
      [](KernelScope& k) {
        const Vec3E d = k.vec3("a") - k.vec3("b");
        const Expr l = novaphy::length(d);
        k.write("out", l * l);
      });
  Tensor a = tensor({1, 2, 3}, Shape{1, 3}, true), b = tensor({1, 2, 3}, Shape{1, 3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {a, b}, {y}, 1);
  }
  tape.backward(y);
  CHECK(gradient(a) == std::vector<float>{0, 0, 0});
  CHECK(gradient(b) == std::vector<float>{0, 0, 0});
}

TEST_CASE("a conditional over one array in both arms has the gradient of the arm taken, element by element") {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "either",
       .in = {in("a", Row::f32), in("b", Row::f32), in("flag", Row::i32)},
       .out = {out("y", Row::f32)}},
      [](KernelScope& k) { k.write("y", select(k.i32("flag") != 0, k.f32("a") / k.f32("b"), k.f32("a"))); });
  Tensor a = scalars({1, 2, 3}, true), b = scalars({2, 4, 8}), y = scalars({0, 0, 0});
  for (const bool flag : {true, false}) {
    Tensor flags = integers(std::vector<std::int32_t>(3, flag ? 1 : 0), Shape{3});
    a.zero_grad();
    Tape tape;
    {
      TapeScope scope(tape);
      launch(kernel, {a, b, flags}, {y}, 3);
    }
    tape.backward(y, scalars({1, 1, 1}));
    CHECK(gradient(a) == (flag ? std::vector<float>{0.5f, 0.25f, 0.125f} : std::vector<float>{1, 1, 1}));
  }
}

TEST_CASE("traced min and max are those of the C library, and of two zeros they give the second") {
  const Kernel low = binary("low", [](Expr a, Expr b) { return min(a, b); }),
               high = binary("high", [](Expr a, Expr b) { return max(a, b); });
  const float some[] = {
      0.0f, -0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> a, b;
  for (const float x : some)
    for (const float y : some) a.push_back(x), b.push_back(y);
  Tensor smaller(Shape{49}), larger(Shape{49});
  launch(low, {scalars(a), scalars(b)}, {smaller}, 49);
  launch(high, {scalars(a), scalars(b)}, {larger}, 49);
  const auto same = [](float x, float y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(a[i], " and ", b[i]);
    // the C library leaves the sign open when both are zero, and compilers swap the operands
    const bool zeros = a[i] == 0 && b[i] == 0;
    CHECK(same(values(smaller)[i], zeros ? b[i] : std::fmin(a[i], b[i])));
    CHECK(same(values(larger)[i], zeros ? b[i] : std::fmax(a[i], b[i])));
  }
}

}  // namespace nova::test
