// SPDX-License-Identifier: Apache-2.0
// Random programs with every operation: every way of running gives the bits of the reference, forward and
// backward; derivatives agree with each other and with differences, in float64. With NOVAPHY_TEST_ALL=1 in
// the environment ten times as many.
#include <cmath>
#include <cstdlib>

#include "program_problem.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

int rounds(int usual) {
  const char* const wanted = std::getenv("NOVAPHY_TEST_ALL");
  return wanted != nullptr && *wanted == '1' ? 10 * usual : usual;
}

}  // namespace

TEST_CASE("every way of running random programs, adjoints and tangents gives the bits of the reference") {
  std::mt19937 rng(20260101);
  for (int round = 0; round < rounds(1000); ++round) {
    const Program program =
        RandomProgram(rng, std::uniform_int_distribution<int>(5, 80)(rng), Flavour::any).program;
    verify(program);
    const Program simplified = simplify(program);
    verify(simplified);
    check_tiers(program, simplified, rng, round);
    const Masks masks = masks_of(program);
    const Program adjoint = reverse(simplified, masks.wanted, masks.seeded);
    verify(adjoint);
    check_tiers(adjoint, adjoint, rng, round);
    const Program tangent = forward(round % 2 == 0 ? simplified : adjoint, masks.wanted);
    verify(tangent);
    check_tiers(tangent, tangent, rng, round);
  }
}

TEST_CASE("forward and reverse mode of random programs are transposes of each other") {
  std::mt19937 rng(7);
  int compared = 0;
  for (int round = 0; round < rounds(1000); ++round) {
    const Flavour flavour = round % 2 == 0 ? Flavour::any : Flavour::smooth;
    const Program program = RandomProgram(rng, 30, flavour).program;
    Problem problem(program, rng, Flavour::smooth);
    const Columns direction = problem.random_direction(), seeds = problem.random_seeds();
    const Columns tangents = problem.jvp(direction), cotangents = problem.vjp(seeds);
    const double forward = dot(seeds, tangents), backward = dot(cotangents, direction);
    const double scale = norm(seeds) * norm(tangents) + norm(cotangents) * norm(direction);
    // beside a factor of 1e30 a cotangent of 1 vanishes
    if (!std::isfinite(scale) || scale > 1e12 || problem.has_extreme_values(1e12)) continue;
    ++compared;
    if (!(std::fabs(forward - backward) <= 1e-10 * scale))
      FAIL("round ", round, ": forward ", forward, ", backward ", backward, "\n", listing(program));
  }
  CHECK(compared > rounds(700));
}

TEST_CASE("derivatives of smooth random programs agree with differences, and second ones are symmetric") {
  std::mt19937 rng(11);
  int compared = 0;
  for (int round = 0; round < rounds(400); ++round) {
    const Program program = RandomProgram(rng, 24, Flavour::smooth).program;
    Problem problem(program, rng, Flavour::smooth);
    const Columns u = problem.random_direction(), v = problem.random_direction(),
                  seeds = problem.random_seeds();
    const Columns tangents = problem.jvp(u), hu = problem.hvp(seeds, u), hv = problem.hvp(seeds, v);
    const double step = 1e-5, scale = norm(tangents), second_scale = norm(hu) * norm(v) + norm(hv) * norm(u);
    if (!std::isfinite(second_scale) || scale > 1e5 || second_scale > 1e7) continue;
    ++compared;
    const Columns up = problem.value(u, step), down = problem.value(u, -step);
    for (std::size_t k = 0; k < up.size(); ++k)
      for (std::size_t j = 0; j < up[k].size(); ++j) {
        const double wanted = (up[k][j] - down[k][j]) / (2 * step);
        if (std::fabs(tangents[k][j] - wanted) > 1e-5 * (1 + scale + second_scale * 1e-3))
          FAIL("round ", round, ", output ", k, ": tangent ", tangents[k][j], ", difference ", wanted, "\n",
               listing(program));
      }
    const Columns exact = problem.vjp(seeds), rounded = problem.float_vjp(seeds);
    for (std::size_t k = 0; k < exact.size(); ++k)
      for (std::size_t j = 0; j < exact[k].size(); ++j)
        if (std::fabs(exact[k][j] - rounded[k][j]) > 3e-5 * (1 + norm(exact)))
          FAIL("round ", round, ", input ", k, ": gradient ", rounded[k][j], ", in float64 ", exact[k][j],
               "\n", listing(program));
    if (std::fabs(dot(u, hv) - dot(v, hu)) > 1e-9 * (1 + second_scale))
      FAIL("round ", round, ": u H v is ", dot(u, hv), ", v H u is ", dot(v, hu), "\n", listing(program));
  }
  CHECK(compared > rounds(200));
}

TEST_CASE("derivatives of random programs with every operation agree with differences away from kinks") {
  std::mt19937 rng(13);
  int compared = 0;
  for (int round = 0; round < rounds(1000); ++round) {
    const Program program = RandomProgram(rng, 16, Flavour::any).program;
    Problem problem(program, rng, Flavour::smooth);
    if (problem.has_extreme_values()) continue;
    const Columns u = problem.random_direction(), tangents = problem.jvp(u);
    const double step = 1e-5;
    const Columns middle = problem.value(u, 0), up = problem.value(u, step), down = problem.value(u, -step),
                  far_up = problem.value(u, 2 * step), far_down = problem.value(u, -2 * step);
    for (std::size_t k = 0; k < up.size(); ++k)
      for (std::size_t j = 0; j < up[k].size(); ++j) {
        const double wanted = (up[k][j] - down[k][j]) / (2 * step),
                     wider = (far_up[k][j] - far_down[k][j]) / (4 * step),
                     ahead = (up[k][j] - middle[k][j]) / step, size = std::fabs(wanted) + 1e-3;
        // rounding of the values, and kinks: there the differences do not agree among themselves; steep steps
        // (floor of something large) look like a slope
        const bool exact = size < 1e3 && 1e-11 * std::fabs(middle[k][j]) < step * 1e-4 * size;
        if (!exact || !(std::fabs(wanted - wider) < 1e-4 * size && std::fabs(wanted - ahead) < 1e-2 * size))
          continue;
        ++compared;
        if (!(std::fabs(tangents[k][j] - wanted) <= 1e-3 * size))
          FAIL("round ", round, ", output ", k, ", number ", j, ": tangent ", tangents[k][j], ", difference ",
               wanted, "\n", listing(program));
      }
  }
  CHECK(compared > rounds(3000));
}

TEST_CASE("values that pass through infinity and end finite have no NaN in their gradients") {
  static constexpr Op kOps[] = {Op::div, Op::div, Op::div, Op::mul,  Op::mul, Op::add,
                                Op::sub, Op::max, Op::exp, Op::tanh, Op::fma, Op::atan2};
  std::mt19937 rng(17);
  int through = 0;
  for (int round = 0; round < rounds(10000); ++round) {
    Program program;
    program.name = "through";
    program.arguments = {{.name = "a", .row = Row::vec3}};
    program.outputs = {{.name = "y", .row = Row::f32}};
    for (std::uint32_t k = 0; k < 3; ++k) program.nodes.push_back({.op = Op::input, .a = 0, .b = k});
    for (int k = 0; k < 8; ++k) {
      const auto any = [&] { return static_cast<std::uint32_t>(rng() % program.nodes.size()); };
      const Op op = k == 7 ? Op::div : kOps[rng() % std::size(kOps)];
      const int operands = operand_count(op);
      program.nodes.push_back(
          {.op = op, .a = any(), .b = operands > 1 ? any() : kNone, .c = operands > 2 ? any() : kNone});
    }
    program.values = {static_cast<std::uint32_t>(program.nodes.size() - 1)};
    Problem problem(program, rng, Flavour::singular);
    if (!problem.passes_infinity_at_most() || !problem.has_infinity()) continue;
    ++through;
    for (const auto& column : problem.vjp(problem.random_seeds()))
      for (const double g : column)
        if (!std::isfinite(g)) FAIL("round ", round, ": a gradient is ", g, "\n", listing(program));
  }
  CHECK(through > rounds(100));
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
