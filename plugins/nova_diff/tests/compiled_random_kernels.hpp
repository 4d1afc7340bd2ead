// SPDX-License-Identifier: Apache-2.0
// The random programs that the build compiles for the tests: the same ones in the generator and in the test.
#pragma once

#include <random>
#include <vector>

#include "novaphy/nova/kernel.hpp"
#include "random_program.hpp"

namespace nova::test {

inline std::vector<Kernel> compiled_random_kernels() {
  std::vector<Kernel> out;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 rng(seed);
    out.push_back(compile(RandomProgram(rng, 10 + 12 * static_cast<int>(seed), Flavour::any).program));
  }
  return out;
}

}  // namespace nova::test
