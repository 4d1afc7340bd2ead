// SPDX-License-Identifier: Apache-2.0
// A program with its derivatives in float64, and the comparison of all ways of running it with the reference.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "nova/expr/passes.hpp"
#include "nova/grad/forward.hpp"
#include "nova/grad/reverse.hpp"
#include "reference_launch.hpp"

namespace nova::test {

inline bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

struct Masks {
  std::uint64_t wanted = 0, seeded = 0;
  std::vector<std::size_t> arguments, outputs;
};

inline Masks masks_of(const Program& p) {
  Masks out;
  for (std::size_t i = 0; i < p.arguments.size(); ++i)
    if (is_float(p.arguments[i].row) && p.arguments[i].reach != Reach::value)
      out.wanted |= std::uint64_t{1} << i, out.arguments.push_back(i);
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    if (is_float(p.outputs[k].row)) out.seeded |= std::uint64_t{1} << k, out.outputs.push_back(k);
  return out;
}

/// Compares all tiers with the reference; `as_written` is what `simplified` was made from.
inline void check_tiers(const Program& as_written, const Program& simplified, std::mt19937& rng, int round) {
  static const std::vector<Tier> all = tiers();
  static constexpr std::int64_t kRows[] = {1, 5, 16, 150, 300};
  const std::int64_t rows = kRows[rng() % 5], domain = static_cast<std::int64_t>(rng() % 4);
  const Arrays<float> inputs = random_arguments<float>(as_written, rows, domain, rng, Flavour::any);
  Arrays<float> wanted = output_arrays(as_written, rows, domain, 0.25f);
  reference_launch(as_written, inputs, wanted, rows, domain);
  for (const Tier& tier : all) {
    Arrays<float> got = output_arrays(as_written, rows, domain, 0.25f);
    tier.run(simplified, inputs.arguments().data(), got.outputs().data(), rows, domain);
    for (std::size_t k = 0; k < as_written.outputs.size(); ++k) {
      REQUIRE(got.words[k] == wanted.words[k]);
      for (std::size_t i = 0; i < wanted.reals[k].size(); ++i)
        if (!same_bits(got.reals[k][i], wanted.reals[k][i]))
          FAIL(tier.name, ", round ", round, ", ", rows, " rows, output ", k, ", number ", i, ": ",
               got.reals[k][i], ", want ", wanted.reals[k][i], "\n", listing(as_written));
    }
  }
}

inline double dot(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::inner_product(a[i].begin(), a[i].end(), b[i].begin(), 0.0);
  return sum;
}
inline double norm(const std::vector<std::vector<double>>& a) {
  return std::sqrt(dot(a, a));
}

using Columns = std::vector<std::vector<double>>;

/// A program with arrays in float64 and its derivatives along them.
class Problem {
 public:
  Problem(const Program& program, std::mt19937& rng, Flavour flavour)
      : rng_(rng),
        program_(simplify(program)),
        masks_(masks_of(program_)),
        adjoint_(reverse(program_, masks_.wanted, masks_.seeded)),
        tangent_(forward(program_, masks_.wanted)),
        second_(forward(adjoint_, masks_.wanted)),
        inputs_(random_arguments<double>(program_, kRows, kDomain, rng, flavour)) {
    for (const Program* p : {&adjoint_, &tangent_, &second_}) verify(*p);
  }

  Columns random_direction() { return random(program_.arguments, masks_.arguments); }
  Columns random_seeds() { return random(program_.outputs, masks_.outputs); }

  Columns value(const Columns& direction, double step) const {
    Arrays<double> moved = inputs_;
    for (std::size_t i = 0; i < direction.size(); ++i)
      for (std::size_t j = 0; j < direction[i].size(); ++j)
        moved.reals[masks_.arguments[i]][j] += step * direction[i][j];
    return real_outputs(program_, moved);
  }
  Columns jvp(const Columns& direction) const { return real_outputs(tangent_, with(inputs_, direction)); }
  Columns vjp(const Columns& seeds) const { return real_outputs(adjoint_, with(inputs_, seeds)); }
  /// Whether a value on the way is infinite or NaN, where derivatives are not promised, or so large that
  /// differences drown in its rounding.
  bool has_extreme_values(double limit = 1e6) const {
    return any_value([limit](double value, bool) { return !(std::fabs(value) < limit); });
  }
  bool has_infinity() const {
    return any_value([](double value, bool) { return std::isinf(value); });
  }
  /// Whether no value is NaN, and those of the outputs are finite; others may be infinite.
  bool passes_infinity_at_most() const {
    return !any_value(
        [](double value, bool is_output) { return std::isnan(value) || (is_output && std::isinf(value)); });
  }
  /// The same cotangents, with every value and operation in float32.
  Columns float_vjp(const Columns& seeds) const {
    const Arrays<double> all = with(inputs_, seeds);
    Arrays<float> inputs{.reals = {}, .words = all.words, .bytes = all.bytes},
        outputs = output_arrays(adjoint_, kRows, kDomain, 0.0f);
    for (const auto& column : all.reals) inputs.reals.emplace_back(column.begin(), column.end());
    reference_launch(adjoint_, inputs, outputs, kRows, kDomain);
    Columns out;
    for (const auto& column : outputs.reals) out.emplace_back(column.begin(), column.end());
    return out;
  }
  Columns hvp(const Columns& seeds, const Columns& direction) const {
    return real_outputs(second_, with(with(inputs_, seeds), direction));
  }

 private:
  static constexpr std::int64_t kRows = 3, kDomain = 2;

  template <class F>
  bool any_value(F is_wanted) const {
    bool found = false;
    const auto arguments = inputs_.arguments();
    for (std::int64_t row = 0; row < kRows; ++row)
      evaluate_row<double>(
          program_, {arguments.data(), kRows, kDomain}, row,
          [&](std::uint32_t, const Number<double>& value, std::int64_t) {
            found |= is_wanted(value.real, false);
          },
          [&](std::uint32_t, std::uint32_t, const Number<double>& value, std::int64_t) {
            found |= is_wanted(value.real, true);
          });
    return found;
  }

  template <class Items>
  Columns random(const std::vector<Items>& items, const std::vector<std::size_t>& which) {
    std::uniform_real_distribution<double> any(-1, 1);
    Columns out;
    for (const std::size_t i : which) {
      const auto count =
          static_cast<std::size_t>(rows_of(items[i].reach, kRows, kDomain) * width_of(items[i].row));
      out.emplace_back(count);
      for (double& x : out.back()) x = any(rng_);
    }
    return out;
  }
  static Arrays<double> with(Arrays<double> inputs, const Columns& more) {
    for (const auto& column : more)
      inputs.reals.push_back(column), inputs.words.emplace_back(), inputs.bytes.emplace_back();
    return inputs;
  }
  static Columns real_outputs(const Program& p, const Arrays<double>& inputs) {
    Arrays<double> outputs = output_arrays(p, kRows, kDomain, 0.0);
    reference_launch(p, inputs, outputs, kRows, kDomain);
    Columns out;
    for (std::size_t k = 0; k < p.outputs.size(); ++k)
      if (is_float(p.outputs[k].row)) out.push_back(outputs.reals[k]);
    return out;
  }

  std::mt19937& rng_;
  const Program program_;
  const Masks masks_;
  const Program adjoint_, tangent_, second_;
  const Arrays<double> inputs_;
};

}  // namespace nova::test
