// SPDX-License-Identifier: Apache-2.0
// Both forms of a force whose formula names no function of ours, as somebody else may write it: same bits,
// also where the C library has functions of these names for int and double.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "nova/kernel/byte_programs.hpp"
#include "novaphy/nova/formula_force.hpp"
#include "test_kernels.hpp"

namespace elsewhere {  // nothing of novaphy is declared here

/// Every operator and function of two float32 and two int32.
template <int N, class T, class I>
T apply(const T& a, const T& b, const I& i, const I& j) {
  if constexpr (N == 0) return abs(a);
  if constexpr (N == 1) return sqrt(a);
  if constexpr (N == 2) return min(a, b);
  if constexpr (N == 3) return max(a, 0.25f);
  if constexpr (N == 4) return fma(a, b, a);
  if constexpr (N == 5) return floor(a);
  if constexpr (N == 6) return sin(a) + cos(b);
  if constexpr (N == 7) return tan(a) * asin(b);
  if constexpr (N == 8) return acos(a) - atan(b);
  if constexpr (N == 9) return atan2(a, b);
  if constexpr (N == 10) return exp(a) / log(b);
  if constexpr (N == 11) return pow(a, b);
  if constexpr (N == 12) return pow(a, 2.5f) + pow(a, 3) + pow(b, -2);
  if constexpr (N == 13) return tanh(a);
  if constexpr (N == 14) return select(either(a < b, !(b != 0.5f)), a, 2 * b);
  if constexpr (N == 15) return select(both(a >= b, negate(a == 0)), 1.0f, a);
  if constexpr (N == 16) {
    T sum = a;
    sum += b, sum *= 3, sum -= a, sum /= b;
    return -sum;
  }
  if constexpr (N == 17) return to_float(i + j * i - (i & j)) + to_float((i | 6) ^ j);
  if constexpr (N == 18) return to_float(i / j) + to_float(i % j);
  if constexpr (N == 19) return to_float(i << j) - to_float(-i >> j);
  if constexpr (N == 20) return to_float(to_int(a));
  if constexpr (N == 21) return to_float(min(i, j)) - to_float(max(i, 3));
  if constexpr (N == 22) return select(either(i < j, i == 7), a, select(i >= j, b, a * b));
}
constexpr int kExpressions = 23;

}  // namespace elsewhere

namespace nova::test {

namespace {

using novaphy::DType;
using novaphy::F32;
using novaphy::ForceInputRows;

novaphy::CustomArray own(const char* name, DType dtype) {
  return {{name, dtype, novaphy::Frequency::particle, 1, "for tests"}, novaphy::ArrayOwner::model, {0.0f}};
}

template <int N>
struct Expression {
  static novaphy::ForceDescription describe() {
    return {
        .inputs = {"a", "b", "i", "j"},
        .arrays = {own("a", DType::f32), own("b", DType::f32), own("i", DType::i32), own("j", DType::i32)}};
  }
  template <class Row>
  static auto force(const Row& row) {
    using T = typename Row::Scalar;
    const T value = elsewhere::apply<N>(row.f32(0), row.f32(1), row.i32(2), row.i32(3));
    return novaphy::Vec3T<T>{value, value * 0.5f, 0.0f};
  }
};

/// All pairs of numbers at which functions differ.
struct Pairs {
  Pairs() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kReals[] = {0.0f,  -0.0f,  0.5f, -0.5f,     1.5f,       -2.25f, 1e10f,
                                -3e9f, 1e-40f, 7.0f, kInfinity, -kInfinity, NAN};
    constexpr std::int32_t kIntegers[] = {0, 1, -1, 7, -8, 33, INT32_MIN, INT32_MAX};
    for (const float x : kReals)
      for (const float y : kReals) {
        const std::size_t row = a.size();
        a.push_back(x), b.push_back(y);
        i.push_back(kIntegers[row % 8]), j.push_back(kIntegers[row / 8 % 8]);
      }
  }
  std::vector<float> a, b;
  std::vector<std::int32_t> i, j;
};

/// As a sum that begins with 0, which is what a program adds to.
bool same_sum(float a, float b) {
  return (a != a && b != b) ||
         std::bit_cast<std::uint32_t>(0.0f + a) == std::bit_cast<std::uint32_t>(0.0f + b);
}

template <int N>
void expect_one_result(BytePrograms& nova, const Pairs& p) {
  const FormulaForce<Expression<N>> force("expression");
  const auto rows = static_cast<std::int64_t>(p.a.size());
  const ForceInputRows inputs[] = {{p.a.data(), 1}, {p.b.data(), 1}, {p.i.data(), 1}, {p.j.data(), 1}};
  std::vector<float> forward(p.a.size() * 3);
  force.evaluate({.begin = 0, .end = rows, .inputs = inputs, .out = forward.data()});

  const auto reals = [&](const std::vector<float>& v) { return DeviceArray::from<float>(v, Shape{rows}); };
  const auto integers = [&](const std::vector<std::int32_t>& v) {
    return DeviceArray::from<std::int32_t>(v, Shape{rows});
  };
  const DeviceArray arrays[] = {reals(p.a), reals(p.b), integers(p.i), integers(p.j)};
  const std::vector<novaphy::LaunchOperand> operands(std::begin(arrays), std::end(arrays));
  const DeviceArray total(DType::f32, Shape{rows, 3});
  const novaphy::LaunchOperand outputs[] = {total};
  nova.launch(nova.compile(force.program()), {.inputs = operands, .outputs = outputs, .rows = rows});
  const auto recorded = total.read<float>();
  for (std::size_t k = 0; k < forward.size(); ++k) {
    INFO("expression ", N, ", row ", k / 3);
    REQUIRE(same_sum(forward[k], recorded[k]));
  }
}

template <int... N>
void expect_each(std::integer_sequence<int, N...>) {
  BytePrograms nova;
  const Pairs pairs;
  (expect_one_result<N>(nova, pairs), ...);
}

template <class T>
concept TakenByC = requires(T x) {
  std::sqrt(x);
}
|| requires(T x) {
  ::fabs(x);
}
|| requires(T x) {
  std::pow(x, x);
};
static_assert(TakenByC<float> && !TakenByC<F32>);
static_assert(!std::is_convertible_v<F32, float> && !std::is_convertible_v<novaphy::I32, int>);

}  // namespace

TEST_CASE("a formula that names no function of ours gives the same bits in both forms") {
  CHECK(static_cast<float>(elsewhere::apply<0>(F32(-0.5f), F32(0), novaphy::I32(0), novaphy::I32(0))) ==
        0.5f);
  expect_each(std::make_integer_sequence<int, elsewhere::kExpressions>());
}

}  // namespace nova::test
