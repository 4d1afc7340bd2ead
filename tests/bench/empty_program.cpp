// SPDX-License-Identifier: Apache-2.0
// A C++ program that does nothing; prints its resident memory, from which that of the runtime is counted.
#include <cstdio>

#include "support/resident_memory.hpp"

int main() {
  std::printf("{\"resident_mb\": %.4g}\n", test::resident_mb());
}
