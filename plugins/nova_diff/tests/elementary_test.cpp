// SPDX-License-Identifier: Apache-2.0
// The elementary functions: correctly rounded, the same in the engine and in every build and width of the
// interpreter.
//
// The reference is the C library in float64; where that lies too close to the middle between two float32
// values to decide, the one in extended precision decides. With NOVAPHY_TEST_ALL=1 in the environment all
// 2^32 arguments are tried, otherwise every 1021st.
#include "novaphy/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <random>

#include "nova/backend/dispatch.hpp"
#include "nova/kernel/execute.hpp"
#include "novaphy/math.hpp"
#include "novaphy/task_pool.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

bool same(float a, float b) {
  return (a != a && b != b) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
bool all_arguments() {
  const char* const wanted = std::getenv("NOVAPHY_TEST_ALL");
  return wanted != nullptr && *wanted == '1';
}

template <class T>
T clamped(T x) {
  return x > 1 ? T(1) : x < -1 ? T(-1) : x;
}

struct Function {
  const char* name;
  float (*ours)(float);
  Expr (*traced)(Expr);
  double (*reference)(double);
  long double (*precise)(long double);
};

// clang-format off
const Function kFunctions[] = {
    {"sin", [](float a) { return novaphy::sin(a); }, [](Expr a) { return sin(a); },
     [](double x) { return std::sin(x); }, [](long double x) { return std::sin(x); }},
    {"cos", [](float a) { return novaphy::cos(a); }, [](Expr a) { return cos(a); },
     [](double x) { return std::cos(x); }, [](long double x) { return std::cos(x); }},
    {"tan", [](float a) { return novaphy::tan(a); }, [](Expr a) { return tan(a); },
     [](double x) { return std::tan(x); }, [](long double x) { return std::tan(x); }},
    {"asin", [](float a) { return novaphy::asin(a); }, [](Expr a) { return asin(a); },
     [](double x) { return std::asin(clamped(x)); }, [](long double x) { return std::asin(clamped(x)); }},
    {"acos", [](float a) { return novaphy::acos(a); }, [](Expr a) { return acos(a); },
     [](double x) { return std::acos(clamped(x)); }, [](long double x) { return std::acos(clamped(x)); }},
    {"exp", [](float a) { return novaphy::exp(a); }, [](Expr a) { return exp(a); },
     [](double x) { return std::exp(x); }, [](long double x) { return std::exp(x); }},
    {"log", [](float a) { return novaphy::log(a); }, [](Expr a) { return log(a); },
     [](double x) { return std::log(x); }, [](long double x) { return std::log(x); }},
    {"tanh", [](float a) { return novaphy::tanh(a); }, [](Expr a) { return tanh(a); },
     [](double x) { return std::tanh(x); }, [](long double x) { return std::tanh(x); }},
};
// clang-format on

/// Runs a kernel of float32 inputs and one output on one build and width.
std::vector<float> run(machine::Run build, int lanes, const Kernel& kernel,
                       const std::vector<std::vector<float>>& inputs) {
  const Code code = lower(kernel.program());
  std::vector<const void*> arguments;
  for (const auto& column : inputs) arguments.push_back(column.data());
  std::vector<float> result(inputs[0].size());
  void* const target = result.data();
  execute_with(build, lanes, code, arguments.data(), &target, static_cast<std::int64_t>(result.size()), 0);
  return result;
}

std::string describe(const char* name, float argument, float got, float want) {
  char text[120];
  std::snprintf(text, sizeof text, "%s(%a) is %a, correctly rounded is %a", name,
                static_cast<double>(argument), static_cast<double>(got), static_cast<double>(want));
  return text;
}

/// Arguments [begin, end) * step as bit patterns; adds what is wrong to `failures`.
std::string check_range(const Function& f, const Code& code, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t step) {
  std::vector<float> x(4096), y(4096);
  std::string failures;
  for (std::uint64_t at = begin; at < end; at += x.size()) {
    const std::size_t count = std::min<std::uint64_t>(x.size(), end - at);
    for (std::size_t i = 0; i < count; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>((at + i) * step));
    const void* const from = x.data();
    void* const to = y.data();
    execute_with(machine::fastest().run, 128, code, &from, &to, static_cast<std::int64_t>(count), 0);
    for (std::size_t i = 0; i < count; ++i) {
      float want = static_cast<float>(f.reference(static_cast<double>(x[i])));
      if (same(y[i], want)) continue;
      want = static_cast<float>(f.precise(static_cast<long double>(x[i])));
      if (!same(y[i], want)) failures += describe(f.name, x[i], y[i], want) + "\n";
    }
  }
  return failures;
}

}  // namespace

TEST_CASE("elementary functions of one argument are correctly rounded") {
  const std::uint64_t step = all_arguments() ? 1 : 1021, count = (std::uint64_t{1} << 32) / step;
  for (const Function& f : kFunctions) {
    const Code code = lower(unary("k", f.traced).program());
    std::mutex mutex;
    std::string failures;
    novaphy::parallel_for(
        static_cast<std::int64_t>(count), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
          const std::string found =
              check_range(f, code, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), step);
          const std::lock_guard lock(mutex);
          failures += found;
        });
    CHECK(failures == "");
  }
}

TEST_CASE("elementary functions have the same bits in the engine and in every build and width") {
  std::mt19937 rng(5);
  std::vector<float> x;
  for (const float special : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-42f, -1e-42f, 3e38f, 1e7f, -1e7f, 1e30f,
                              std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()})
    x.push_back(special);
  while (x.size() < 5000) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  while (x.size() < 10000) x.push_back(std::uniform_real_distribution<float>(-10, 10)(rng));
  for (const Function& f : kFunctions) {
    const Kernel kernel = unary("k", f.traced);
    for (const machine::Build& build : machine::builds())
      for (const int lanes : {1, 16, 128}) {
        const std::vector<float> y = run(build.run, lanes, kernel, {x});
        for (std::size_t i = 0; i < x.size(); ++i)
          if (!same(y[i], f.ours(x[i])))
            FAIL("build ", build.name, ", ", lanes, " lanes: ", describe(f.name, x[i], y[i], f.ours(x[i])));
      }
  }
}

TEST_CASE("atan2 and pow are correctly rounded, with the special cases of C, on every build and width") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> special{0.0f,   -0.0f,  1.0f,    -1.0f,          0.5f,         -0.5f, 2.0f,
                             -2.0f,  3.0f,   -3.0f,   1e-42f,         -1e-42f,      3e38f, -3e38f,
                             1e-30f, 1e7f,   1e8f,    16777215.0f,    inf,          -inf,  nan,
                             33.0f,  -33.0f, 4097.0f, 0x1.fffffep-1f, 0x1.000002p0f};
  std::vector<float> a, b;
  for (const float p : special)
    for (const float q : special) a.push_back(p), b.push_back(q);
  std::mt19937 rng(6);
  std::uniform_real_distribution<float> base(0, 20), exponent(-10, 10);
  for (int i = 0; i < 20000; ++i) a.push_back(base(rng)), b.push_back(exponent(rng));
  // squares, cubes and roots that lie exactly between two float32 values, or are exact
  for (int i = 0; i < 5000; ++i) {
    const int whole = std::uniform_int_distribution<int>(1, 8191)(rng);
    a.push_back(static_cast<float>(whole)), b.push_back(i % 2 == 0 ? 2.0f : 3.0f);
    a.push_back(static_cast<float>(whole) * static_cast<float>(whole)), b.push_back(0.5f);
  }
  for (int i = 0; i < 20000; ++i)
    a.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng()))),
        b.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  const Kernel power = binary("pow", [](Expr x, Expr y) { return pow(x, y); }),
               angle = binary("atan2", [](Expr y, Expr x) { return atan2(y, x); });
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float wanted_power =
        static_cast<float>(std::pow(static_cast<long double>(a[i]), static_cast<long double>(b[i])));
    const float wanted_angle =
        static_cast<float>(std::atan2(static_cast<long double>(a[i]), static_cast<long double>(b[i])));
    if (!same(novaphy::pow(a[i], b[i]), wanted_power))
      FAIL_CHECK(a[i], " to the ", b[i], " is ", novaphy::pow(a[i], b[i]), ", want ", wanted_power);
    if (!same(novaphy::atan2(a[i], b[i]), wanted_angle))
      FAIL_CHECK("atan2 of ", a[i], " and ", b[i], " is ", novaphy::atan2(a[i], b[i]), ", want ",
                 wanted_angle);
  }
  for (const machine::Build& build : machine::builds())
    for (const int lanes : {1, 16, 128}) {
      const std::vector<float> powers = run(build.run, lanes, power, {a, b}),
                               angles = run(build.run, lanes, angle, {a, b});
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!same(powers[i], novaphy::pow(a[i], b[i])))
          FAIL("build ", build.name, ", ", lanes, " lanes: ", a[i], " to the ", b[i], " is ", powers[i]);
        if (!same(angles[i], novaphy::atan2(a[i], b[i])))
          FAIL("build ", build.name, ", ", lanes, " lanes: atan2 of ", a[i], " and ", b[i], " is ",
               angles[i]);
      }
    }
}

TEST_CASE("fma rounds once on every build, with or without such an instruction") {
  std::mt19937 rng(8);
  std::vector<float> a, b, c;
  const auto any = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(rng())); };
  for (int i = 0; i < 200000; ++i) {
    const float x = any(), y = any();
    a.push_back(x), b.push_back(y);
    // often a sum that cancels the product or lies far below its last place
    const float product = x * y;
    const int exponent = std::isfinite(product) && product != 0 ? std::ilogb(product) : 0;
    c.push_back(i % 4 == 0 ? any()
                : i % 4 == 1
                    ? -product
                    : std::ldexp(any() > 0 ? 1.0f : -1.5f, exponent + static_cast<int>(rng() % 70) - 50));
  }
  const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "fma",
       .in = {in("a", Row::f32), in("b", Row::f32), in("c", Row::f32)},
       .out = {out("y", Row::f32)}},
      [](KernelScope& k) { k.write("y", fma(k.f32("a"), k.f32("b"), k.f32("c"))); });
  for (const machine::Build& build : machine::builds())
    for (const int lanes : {1, 16, 128}) {
      const std::vector<float> y = run(build.run, lanes, kernel, {a, b, c});
      for (std::size_t i = 0; i < y.size(); ++i)
        if (!same(y[i], std::fma(a[i], b[i], c[i])))
          FAIL("build ", build.name, ", ", lanes, " lanes: ", a[i], " * ", b[i], " + ", c[i], " is ", y[i]);
    }
}

}  // namespace nova::test
