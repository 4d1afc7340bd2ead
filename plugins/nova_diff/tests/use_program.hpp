// SPDX-License-Identifier: Apache-2.0
// Launches any program on arrays that fit it, on a tape, and runs backward: nothing of it may do harm.
#pragma once

#include <cstdlib>
#include <random>
#include <vector>

#include "nova/kernel/compiled.hpp"
#include "random_program.hpp"
#include "test_kernels.hpp"

namespace nova::test {

/// How many damaged programs a test tries: 20,000; 4,000 in slow builds (sanitizers, debug), unless
/// NOVAPHY_TEST_ALL=1 stands in the environment.
inline int damaged_rounds() {
  const char* const all = std::getenv("NOVAPHY_TEST_ALL");
#if defined(__OPTIMIZE__)
  constexpr int kRounds = 20000;
#else
  constexpr int kRounds = 4000;
#endif
  return all != nullptr && *all == '1' ? 20000 : kRounds;
}

inline constexpr std::int64_t kFewRows = 3, kFewDomain = 2;

inline Tensor array_for(Row row, Reach reach, std::mt19937& rng) {
  const Shape shape{rows_of(reach, kFewRows, kFewDomain), width_of(row)};
  if (is_float(row)) {
    std::vector<float> numbers(static_cast<std::size_t>(shape.size()));
    for (float& x : numbers) x = std::uniform_real_distribution<float>(-2, 2)(rng);
    return tensor(numbers, shape, true);
  }
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(shape.size()));
  for (std::int32_t& x : numbers)
    x = std::uniform_int_distribution<std::int32_t>(-1, static_cast<std::int32_t>(kTargets) - 1)(rng);
  return integers(numbers, shape);
}

/// Launches on a tape and runs backward from every float output.
inline void use(const Kernel& kernel, std::mt19937& rng) {
  const Program& p = kernel.program();
  std::vector<Tensor> arrays, results;
  std::vector<Operand> inputs, outputs;
  arrays.reserve(p.arguments.size()), results.reserve(p.outputs.size());
  for (const Argument& a : p.arguments) {
    arrays.push_back(array_for(a.row, a.reach, rng));
    if (a.reach != Reach::value)
      inputs.emplace_back(arrays.back());
    else if (is_float(a.row))
      inputs.emplace_back(0.5f);
    else
      inputs.emplace_back(std::int32_t{3});
  }
  for (const Output& o : p.outputs) {
    results.push_back(array_for(o.row, o.reach, rng).set_requires_grad(false));
    outputs.emplace_back(results.back());
  }
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(kernel, inputs, outputs, kFewRows, kFewDomain);
  }
  for (const Tensor& result : results)
    if (result.dtype() == DType::f32) tape.backward(result, result.clone());
  (void)kernel.compiled()->tangent(nullptr, kernel.compiled()->differentiable);
}

}  // namespace nova::test
