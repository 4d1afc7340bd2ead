// SPDX-License-Identifier: Apache-2.0
// C08 for a force: ordinary numbers give finite forces, and its program gives the bits of evaluate().
#include "check_force.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "novaphy/api.hpp"
#include "novaphy/nova.hpp"

namespace novaphy::host {
namespace {

/// Rows of a force with inputs of their own; no two rows share a particle.
class ForceTrial {
 public:
  ForceTrial(IForce& force, int rows)
      : force_(force),
        description_(force.describe()),
        found_(inputs_of(description_)),
        corners_(corners_of(description_.rows)),
        rows_(rows),
        indices_(DType::i32, Shape{rows, corners_}) {
    for (const ForceInput& input : found_) {
      const std::int64_t of_row = input.reach == ForceReach::corner ? corners_ : 1;
      const std::int64_t count = input.reach == ForceReach::uniform ? 1 : rows * of_row;
      arrays_.emplace_back(input.info.dtype, Shape{count, input.info.width});
    }
    const auto indices = indices_.write<std::int32_t>();
    std::iota(indices.begin(), indices.end(), 0);
  }

  /// real() and integer() give the next number.
  template <class Real, class Integer>
  void fill(Real real, Integer integer) {
    for (DeviceArray& array : arrays_) {
      if (array.dtype() == DType::f32)
        for (float& value : array.write<float>()) value = real();
      if (array.dtype() == DType::i32)
        for (std::int32_t& value : array.write<std::int32_t>()) value = integer();
    }
  }

  std::vector<float> evaluated() const {
    std::vector<ForceInputRows> inputs;
    for (std::size_t k = 0; k < found_.size(); ++k)
      inputs.push_back({arrays_[k].storage()->data(), found_[k].info.width, found_[k].reach});
    std::vector<float> out(static_cast<std::size_t>(3 * rows_ * corners_), std::nanf(""));
    const bool of_particles = description_.rows == Frequency::particle;
    force_.evaluate({.begin = 0,
                     .end = rows_,
                     .inputs = inputs,
                     .corners = of_particles ? nullptr : indices_.read<std::int32_t>().data(),
                     .corner_count = corners_,
                     .out = out.data()});
    return out;
  }

  std::vector<float> of_program(INova& nova) const {
    std::vector<LaunchOperand> inputs(arrays_.begin(), arrays_.end());
    if (description_.rows != Frequency::particle) inputs.emplace_back(indices_);
    const DeviceArray total(DType::f32, Shape{rows_ * corners_, 3});
    const LaunchOperand outputs[] = {total};
    nova.launch(nova.compile(force_.program()), {.inputs = inputs, .outputs = outputs, .rows = rows_});
    const auto numbers = total.read<float>();
    return {numbers.begin(), numbers.end()};
  }

  int numbers_of_row() const noexcept { return 3 * corners_; }

 private:
  IForce& force_;
  ForceDescription description_;
  std::vector<ForceInput> found_;
  int corners_, rows_;
  std::vector<DeviceArray> arrays_;
  DeviceArray indices_;
};

/// Numbers that are neither 0 nor far from 1.
std::string not_finite(IForce& force) {
  ForceTrial trial(force, 2);
  int i = 0;
  trial.fill([&] { return 0.5f + 0.125f * static_cast<float>(i++ % 5); }, [] { return 0; });
  for (const float value : trial.evaluated())
    if (!std::isfinite(value)) return "a force of ordinary inputs is not finite, or was not written";
  return {};
}

/// Whether a sum that begins with 0 becomes the same.
bool adds_the_same(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(0.0f + a) == std::bit_cast<std::uint32_t>(0.0f + b);
}

/// Fractions of either sign, the same ones each time: a formula that computes in int or double somewhere
/// shows.
std::string another_program(IForce& force, INova& nova) {
  constexpr int kRows = 64;
  ForceTrial trial(force, kRows);
  std::mt19937 random(1);
  trial.fill([&] { return static_cast<float>(random() % 4001) * 1e-3f - 2.0f; },
             [&] { return static_cast<int>(random() % 8); });
  const std::vector<float> wanted = trial.evaluated();
  std::vector<float> got;
  try {
    got = trial.of_program(nova);
  } catch (const Error& error) {
    return std::string("Nova refuses its program: ") + error.what();
  }
  const auto width = static_cast<std::size_t>(trial.numbers_of_row());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (adds_the_same(got[i], wanted[i])) continue;
    const std::size_t row = i / width, first = row * width;
    return fmt::format(
        "for row {} of {} of fractional inputs evaluate() gives ({:.9g}), its program ({:.9g}); make both of "
        "one formula "
        "over Row::Scalar, with nova::FormulaForce",
        row, kRows,
        fmt::join(wanted.begin() + static_cast<long>(first),
                  wanted.begin() + static_cast<long>(first + width), ", "),
        fmt::join(got.begin() + static_cast<long>(first), got.begin() + static_cast<long>(first + width),
                  ", "));
  }
  return {};
}

}  // namespace

std::string try_force(IForce& force) {
  std::string finding = not_finite(force);
  if (!finding.empty() || force.program().empty()) return finding;
  INova* const nova = find_optional<INova>("nova");
  return nova == nullptr ? std::string() : another_program(force, *nova);
}

}  // namespace novaphy::host
