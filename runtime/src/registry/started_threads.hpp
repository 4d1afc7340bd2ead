// SPDX-License-Identifier: Apache-2.0
// Which threads begin while a module loads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/parallel_loops.hpp"
#include "platform/threads.hpp"

namespace novaphy {

/// Made before a load. Threads of the shared task pool are nobody's: they begin with the first loops.
class StartedThreads {
 public:
  /// The threads that have begun since; empty when a parallel loop has run meanwhile.
  std::vector<int> since() const {
    if (parallel_loops() != loops_) return {};
    const std::vector<int> now = platform::thread_ids();
    std::vector<int> out;
    std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(), std::back_inserter(out));
    return out;
  }

 private:
  std::vector<int> before_ = platform::thread_ids();
  std::uint64_t loops_ = parallel_loops();
};

}  // namespace novaphy
