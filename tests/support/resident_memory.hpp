// SPDX-License-Identifier: Apache-2.0
// How much memory of this process is resident, as the kernel counts it.
#pragma once

#include <fstream>
#include <string>

namespace test {

/// VmRSS in MB (10^6 bytes).
inline double resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmRSS:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
  }
  return 0;
}

}  // namespace test
