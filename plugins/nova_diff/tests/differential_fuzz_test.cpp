// SPDX-License-Identifier: Apache-2.0
// Random recordings of launches, slices, assigns, fills and custom operations: gradients agree with float64
// derivatives of the same steps, and every tier, thread count and replay gives the same bits. With
// NOVAPHY_TEST_ALL=1 in the environment twenty times as many.
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "fuzz_scenario.hpp"
#include "novaphy/nova/capture.hpp"
#include "novaphy/nova/derivatives.hpp"
#include "ways.hpp"

namespace nova::test::differential {
namespace {

std::vector<std::uint32_t> run(Scenario& scenario, Memory memory, OnOverwrite mode = OnOverwrite::save) {
  Run arrays(scenario, memory);
  Tape tape(mode);
  Tensor loss;
  {
    const TapeScope scope(tape);
    loss = arrays.record();
  }
  tape.backward(loss);
  return arrays.bits(loss);
}

int rounds(int usual) {
  const char* const wanted = std::getenv("NOVAPHY_TEST_ALL");
  return wanted != nullptr && *wanted == '1' ? 20 * usual : usual;
}

void check_gradient(Scenario& scenario, int seed) {
  Run arrays(scenario, Memory::own);
  Tape tape(OnOverwrite::save);
  Tensor loss;
  {
    const TapeScope scope(tape);
    loss = arrays.record();
  }
  tape.backward(loss);
  for (int direction = 0; direction < 3; ++direction) {
    std::vector<std::vector<double>> along(kLeaves);
    std::vector<Tensor> inputs, tangents;
    double got = 0, scale = 1e-3;
    for (std::size_t r = 0; r < kLeaves; ++r) {
      const auto grad = arrays.arrays[r].grad();
      std::vector<float> tangent;
      for (std::size_t i = 0; i < scenario.start[r].size(); ++i) {
        tangent.push_back(std::uniform_real_distribution<float>(-1, 1)(scenario.rng));
        along[r].push_back(tangent.back());
        const double part = grad ? grad->array().read<float>()[i] * static_cast<double>(tangent.back()) : 0;
        got += part, scale += std::abs(part);
      }
      inputs.push_back(arrays.arrays[r]), tangents.push_back(scalars(tangent));
    }
    const Reference reference(scenario, arrays.refused, along);
    const std::vector<Tensor> slope = jvp(tape, inputs, tangents, std::vector<Tensor>{loss});
    CAPTURE(seed);
    CHECK(std::abs(loss.item() - reference.loss.value) < 1e-3 * (1 + std::abs(reference.loss.value)));
    CHECK(std::abs(got - reference.loss.slope) < 1e-3 * scale);
    CHECK(std::abs(slope.at(0).item() - reference.loss.slope) < 1e-3 * scale);

    const std::vector<Tensor> curved = hvp(tape, loss, inputs, tangents);
    double got_curvature = 0, curvature_scale = 1e-2;
    for (std::size_t r = 0; r < kLeaves; ++r)
      for (std::size_t i = 0; i < along[r].size(); ++i) {
        const double part = curved[r].array().read<float>()[i] * along[r][i];
        got_curvature += part, curvature_scale += std::abs(part);
      }
    const auto slope_at = [&](double moved) {
      return Reference(scenario, arrays.refused, along, moved).loss.slope;
    };
    const double curvature = (slope_at(1e-5) - slope_at(-1e-5)) / 2e-5;
    CHECK(std::abs(got_curvature - curvature) < 2e-3 * curvature_scale);
  }
}

}  // namespace

TEST_CASE("gradients of random recordings are those of the same steps in float64") {
  for (int seed = 0; seed < rounds(50); ++seed) {
    Scenario scenario(seed);
    check_gradient(scenario, seed);
  }
}

TEST_CASE("random recordings leave the same bits on every tier, thread count and kind of memory") {
  for (int seed = 0; seed < rounds(30); ++seed) {
    Scenario scenario(1000 + seed);
    std::vector<std::uint32_t> want;
    {
      const Way serial(Patches::never, 1, 0, 0, 1);
      want = run(scenario, Memory::own);
    }
    const auto same = [&](const std::string& what, Memory memory) {
      CAPTURE(seed);
      CAPTURE(what);
      CHECK(run(scenario, memory) == want);
    };
    {
      const Way way(Patches::never, 7);
      same("7 threads", Memory::wrapped);
    }
    {
      const Way way(Patches::always, 3, 8, 256, 2);
      same("small patches", Memory::wrapped);
    }
    for (const std::size_t builds : {1, 2, 3}) {
      const Way way(Patches::always, builds == 2 ? 2 : 1, 0, 256, builds, true);
      same("compiled", builds == 3 ? Memory::own : Memory::wrapped);
    }
  }
}

TEST_CASE("without saving, a random recording is refused or has the same gradients") {
  int exact = 0, refused = 0;
  for (int seed = 0; seed < rounds(40); ++seed) {
    Scenario scenario(2000 + seed, 4);
    const auto want = run(scenario, Memory::own);
    CAPTURE(seed);
    try {
      const auto got = run(scenario, seed % 2 == 0 ? Memory::own : Memory::escaped, OnOverwrite::error);
      CHECK(got == want);
      ++exact;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::stale_record);
      ++refused;
    }
  }
  CHECK(exact > 3);
  CHECK(refused > 3);
}

TEST_CASE("replays of a captured random recording leave the bits of the calls made one by one") {
  int replayed = 0;
  for (int seed = 0; seed < rounds(60); ++seed) {
    Scenario scenario(3000 + seed, 4);
    Run arrays(scenario, seed % 2 == 0 ? Memory::own : Memory::wrapped);
    Tensor loss;
    Graph graph;
    try {
      ScopedCapture capture;
      Tape tape;
      {
        const TapeScope scope(tape);
        loss = arrays.record();
      }
      tape.backward(loss);
      graph = capture.finish();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::stale_record);
      continue;
    }
    const auto want = run(scenario, Memory::own, OnOverwrite::error);
    for (const int threads : {1, 7}) {
      const Way way(Patches::where_they_pay, threads, 0, 0, 0, true);
      graph.launch();
      CAPTURE(seed);
      CHECK(arrays.bits(loss) == want);
      arrays.restore();
    }
    ++replayed;
  }
  CHECK(replayed > 5);
}

}  // namespace nova::test::differential
