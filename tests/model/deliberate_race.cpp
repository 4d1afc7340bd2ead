// SPDX-License-Identifier: Apache-2.0
// Two ranges of one loop write one number at the same time, on purpose: the thread sanitizer must still find it through
// everything that the pool tells it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "novaphy/task_pool.hpp"

int main() {
  novaphy::task_pool().set_thread_count(2);
  long shared = 0;
  std::atomic<int> arrived{0};
  novaphy::parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
    arrived.fetch_add(1, std::memory_order_relaxed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived.load(std::memory_order_relaxed) < 2 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) shared += i;
  });
  std::printf("no race was reported, sum %ld\n", shared);
  return 0;
}
