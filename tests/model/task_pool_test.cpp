// SPDX-License-Identifier: Apache-2.0
// The task pool: what it runs, and that the number of threads changes nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "messages.hpp"
#include "novaphy/task_pool.hpp"

namespace novaphy {
namespace {

/// Puts the thread count back.
struct Threads {
  explicit Threads(int count) { task_pool().set_thread_count(count); }
  ~Threads() { task_pool().set_thread_count(before); }
  int before = task_pool().thread_count();
};

using Range = std::pair<std::int64_t, std::int64_t>;

std::vector<Range> ranges(std::int64_t n, std::int64_t grain) {
  std::mutex mutex;
  std::vector<Range> out;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    out.emplace_back(begin, end);
  });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("work is cut by the grain alone, whatever the thread count") {
  for (const int threads : {1, 2, 7}) {
    const Threads set(threads);
    CHECK(task_pool().thread_count() == threads);
    CHECK(ranges(10, 4) == std::vector<Range>{{0, 4}, {4, 8}, {8, 10}});
    CHECK(ranges(4, 4) == std::vector<Range>{{0, 4}});
    CHECK(ranges(3, 100) == std::vector<Range>{{0, 3}});
    CHECK(ranges(0, 4).empty());
    CHECK(ranges(10'000, 7).size() == 1429);
  }
}

TEST_CASE("sums per range have the same bits on 1, 2 and 7 threads") {
  constexpr std::int64_t n = 100'000, grain = 64;
  const auto sum = [&] {
    std::vector<float> partial((n + grain - 1) / grain);
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      float s = 0;
      for (std::int64_t i = begin; i < end; ++i) s += 1.0f / static_cast<float>(i + 1);
      partial[static_cast<std::size_t>(begin / grain)] = s;
    });
    float total = 0;
    for (const float s : partial) total += s;
    return total;
  };
  const float serial = [&] {
    const Threads set(1);
    return sum();
  }();
  for (const int threads : {2, 7})
    for (int run = 0; run < 10; ++run) {
      const Threads set(threads);
      CHECK(sum() == serial);
    }
}

TEST_CASE("several threads do take part when several are asked for") {
  const Threads set(4);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> inside{0}, most{0};
  parallel_for(64, 1, [&](std::int64_t, std::int64_t) {
    const int now = ++inside;
    int before = most.load();
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
    {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --inside;
  });
  CHECK(seen.size() >= 2);
  CHECK(most.load() >= 2);
  CHECK(seen.size() <= 4);
}

TEST_CASE("a parallel loop may stand in another one") {
  const Threads set(3);
  std::atomic<int> count{0};
  parallel_for(20, 1, [&](std::int64_t, std::int64_t) {
    parallel_for(30, 4,
                 [&](std::int64_t begin, std::int64_t end) { count += static_cast<int>(end - begin); });
  });
  CHECK(count == 600);
}

TEST_CASE("an exception in a body comes back to the caller") {
  for (const int threads : {1, 4}) {
    const Threads set(threads);
    CHECK_FAILS(parallel_for(100, 1,
                             [](std::int64_t begin, std::int64_t) {
                               if (begin == 57) fail(ErrorKind::value, "row 57 is bad");
                             }),
                value, "row 57 is bad");
  }
}

TEST_CASE("the thread count at start is NOVAPHY_NUM_THREADS, else the machine's processors") {
  // CTest runs this case alone, without the variable, with 3 and with a word: see CMakeLists.txt.
  const char* wanted = std::getenv("NOVAPHY_NUM_THREADS");
  if (wanted && std::string(wanted) == "three")
    CHECK_FAILS(task_pool(), value,
                "the environment variable NOVAPHY_NUM_THREADS is 'three': want a whole number of at least 1");
  else
    CHECK(task_pool().thread_count() ==
          (wanted ? std::stoi(wanted) : static_cast<int>(std::thread::hardware_concurrency())));
}

TEST_CASE("impossible numbers are refused") {
  CHECK_FAILS(task_pool().set_thread_count(0), value, "thread count is 0: want at least 1");
  CHECK_FAILS(parallel_for(10, 0, [](std::int64_t, std::int64_t) {}), value,
              "parallel_for: grain is 0: want at least 1");
}

}  // namespace novaphy
