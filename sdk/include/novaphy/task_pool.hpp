// SPDX-License-Identifier: Apache-2.0
// The one set of threads that all plugins share.
#pragma once

#include <cstdint>
#include <type_traits>

#include "novaphy/export.hpp"

namespace novaphy {

/// Plugins start no threads of their own. Results must not depend on the number of threads: cut work by data only.
/// parallel_for may be called from any thread, also inside a body; set_thread_count only while no work runs.
class NOVAPHY_API ITaskPool {
 public:
  static constexpr const char* kId = "novaphy.ITaskPool/1";
  virtual ~ITaskPool();

  /// Calls body(context, begin, end) for consecutive ranges of at most `grain` rows that cover [0, n). Ranges start at
  /// multiples of `grain` whatever the thread count. Runs on the calling thread when n <= grain. An exception in a body
  /// is rethrown here. Throws Error(value) for a grain below 1.
  virtual void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void* context, std::int64_t begin, std::int64_t end),
                            void* context) = 0;
  virtual int thread_count() const noexcept = 0;
  /// Throws Error(value) below 1. Default: NOVAPHY_NUM_THREADS, else the processors that this process may use.
  virtual void set_thread_count(int count) = 0;
};

/// The process's pool.
NOVAPHY_API ITaskPool& task_pool();

/// parallel_for over a callable body(begin, end).
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, Body&& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  task_pool().parallel_for(
      n, grain, [](void* context, std::int64_t begin, std::int64_t end) { (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace novaphy
