// SPDX-License-Identifier: Apache-2.0
// Random programs: every build and width of the interpreter gives the bits of the scalar reference, and
// adjoints are right.
#include <cmath>
#include <cstring>

#include "nova/backend/dispatch.hpp"
#include "nova/grad/reverse.hpp"
#include "nova/kernel/execute.hpp"
#include "random_program.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

using Columns = std::vector<std::vector<float>>;

/// Runs one program over all rows on one build and width.
Columns run(machine::Run build, int lanes, const Program& p, const Columns& inputs, std::size_t rows,
            std::size_t outputs) {
  const Code code = lower(p);
  std::vector<const void*> arguments;
  for (const auto& column : inputs) arguments.push_back(column.data());
  Columns results(outputs, std::vector<float>(rows));
  std::vector<void*> targets;
  for (auto& column : results) targets.push_back(column.data());
  execute_with(build, lanes, code, arguments.data(), targets.data(), static_cast<std::int64_t>(rows), 0);
  return results;
}

}  // namespace

TEST_CASE("every build and width of the interpreter gives the bits of the scalar reference") {
  std::mt19937 rng(20260101);
  constexpr std::size_t kRows = 150;  // one full block, one partial
  std::uniform_real_distribution<float> any(-3.0f, 3.0f);
  std::uniform_int_distribution<int> awkward(0, 11), often(0, 3);
  for (int round = 0; round < 1000; ++round) {
    const RandomProgram random = random_program(rng, std::uniform_int_distribution<int>(10, 120)(rng), false);
    const Program simplified = simplify(random.program);
    verify(random.program);
    verify(simplified);
    Columns inputs(static_cast<std::size_t>(random.inputs), std::vector<float>(kRows));
    for (auto& column : inputs)
      for (float& x : column) x = often(rng) == 0 ? kAwkward[awkward(rng)] : any(rng);
    Columns wanted(static_cast<std::size_t>(random.outputs), std::vector<float>(kRows));
    for (std::size_t e = 0; e < kRows; ++e) {
      std::vector<float> row;
      for (const auto& column : inputs) row.push_back(column[e]);
      const std::vector<float> values = evaluate(random.program, row);
      for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k][e] = values[random.program.values[k]];
    }
    for (const machine::Build& build : machine::builds())
      for (const int lanes : {1, 16, 128}) {
        const Columns got = run(build.run, lanes, simplified, inputs, kRows, wanted.size());
        for (std::size_t k = 0; k < wanted.size(); ++k)
          for (std::size_t e = 0; e < kRows; ++e)
            if (!same_bits(got[k][e], wanted[k][e]))
              FAIL("build ", build.name, ", ", lanes, " lanes, round ", round, ", output ", k, ", row ", e,
                   ": ", got[k][e], ", want ", wanted[k][e], "\n", listing(random.program));
      }
  }
}

TEST_CASE("adjoints pass the dot test and agree with differences in float64") {
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> near_one(0.5f, 1.5f), weight(-1.0f, 1.0f);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    const RandomProgram random = random_program(rng, 30, true);
    const Program simplified = simplify(random.program), adjoint = reverse(simplified, 0xF, 0x7);
    verify(adjoint);
    std::vector<float> row, seeds, direction;
    for (int i = 0; i < random.inputs; ++i) row.push_back(near_one(rng)), direction.push_back(weight(rng));
    for (int k = 0; k < random.outputs; ++k) seeds.push_back(weight(rng));
    Columns inputs;
    for (const float x : row) inputs.push_back({x});
    for (const float x : seeds) inputs.push_back({x});
    const Columns cotangents =
        run(machine::fastest().run, 1, adjoint, inputs, 1, static_cast<std::size_t>(random.inputs));
    // <seeds, J direction> by central differences in double
    const double step = 1e-5;
    std::vector<double> ahead(row.begin(), row.end()), behind = ahead;
    for (std::size_t i = 0; i < row.size(); ++i) {
      ahead[i] += step * static_cast<double>(direction[i]);
      behind[i] -= step * static_cast<double>(direction[i]);
    }
    const auto up = evaluate(random.program, ahead), down = evaluate(random.program, behind);
    double forward = 0, backward = 0, scale = 1e-3;
    for (std::size_t k = 0; k < seeds.size(); ++k) {
      const std::uint32_t at = random.program.values[k];
      forward += static_cast<double>(seeds[k]) * (up[at] - down[at]) / (2 * step);
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      backward += static_cast<double>(cotangents[i][0]) * static_cast<double>(direction[i]);
      scale += std::fabs(static_cast<double>(cotangents[i][0]) * static_cast<double>(direction[i]));
    }
    if (!std::isfinite(forward) || scale > 1e6) continue;
    ++compared;
    if (std::fabs(forward - backward) > 1e-5 * scale)
      FAIL("round ", round, ": ", backward, ", want ", forward, "\n", listing(random.program));
  }
  CHECK(compared > 200);
}

TEST_CASE("no random program with guarded roots and divisions gives a NaN gradient") {
  std::mt19937 rng(99);
  std::uniform_int_distribution<int> coin(0, 2);
  std::uniform_real_distribution<float> any(-1.0f, 1.0f);
  for (int round = 0; round < 500; ++round) {
    // y = sum over terms of select(x > 0, sqrt(x) / x * z, z), at x that is often zero
    Tensor x = scalars({0, 0, 0, 0}), z = scalars({0, 0, 0, 0}), y = scalars({0, 0, 0, 0});
    for (float& v : x.array().write<float>()) v = coin(rng) == 0 ? any(rng) : 0.0f;
    for (float& v : z.array().write<float>()) v = coin(rng) == 0 ? 0.0f : any(rng);
    x.set_requires_grad(true), z.set_requires_grad(true);
    static const Kernel kernel = binary("guarded", [](Expr a, Expr b) {
      const Expr safe = select(a > 0.0f, sqrt(a) / a * b, b);
      return safe + select(b < 0.0f, a / b, sqrt(abs(a)) * b);
    });
    Tape tape;
    {
      TapeScope scope(tape);
      launch(kernel, {x, z}, {y}, 4);
    }
    tape.backward(y, scalars({1, 0, -2, 0.5f}));
    for (const Tensor& leaf : {x, z})
      for (const float g : gradient(leaf)) CHECK(std::isfinite(g));
  }
}

}  // namespace nova::test
