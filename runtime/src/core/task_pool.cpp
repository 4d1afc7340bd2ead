// SPDX-License-Identifier: Apache-2.0
// The process's task pool, on oneTBB.
#include "novaphy/task_pool.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <string>

#include "core/parallel_loops.hpp"
#include "novaphy/error.hpp"
#include "platform/process.hpp"

#if defined(NOVAPHY_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace novaphy {
namespace {

// The thread sanitizer cannot see how oneTBB's own library hands work over, and is told here: what the caller
// wrote is there for each range, and what ranges wrote is there for the caller.
void hand_over([[maybe_unused]] void* loop) {
#if defined(NOVAPHY_THREAD_SANITIZER)
  __tsan_release(loop);
#endif
}
void take_over([[maybe_unused]] void* loop) {
#if defined(NOVAPHY_THREAD_SANITIZER)
  __tsan_acquire(loop);
#endif
}

namespace tbb = oneapi::tbb;
constexpr const char* kThreadsVariable = "NOVAPHY_NUM_THREADS";

/// Around the work of one range; exceptions are handed over too.
struct RangeScope {
  explicit RangeScope(void* shared) : loop(shared) { take_over(loop); }
  ~RangeScope() { hand_over(loop); }
  RangeScope(const RangeScope&) = delete;
  RangeScope& operator=(const RangeScope&) = delete;
  void* loop;
};
/// Around the whole loop, on the caller's side.
struct LoopScope {
  explicit LoopScope(void* shared) : loop(shared) { hand_over(loop); }
  ~LoopScope() { take_over(loop); }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;
  void* loop;
};

std::atomic<std::uint64_t> loops{0};

/// NOVAPHY_NUM_THREADS, or the processors that this process may use.
int default_thread_count() {
  const std::string digits = platform::environment(kThreadsVariable).value_or("");
  if (digits.empty()) return tbb::info::default_concurrency();
  int count = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  NOVAPHY_REQUIRE(status == std::errc{} && end == digits.data() + digits.size() && count >= 1,
                  ErrorKind::value, "the environment variable ", kThreadsVariable, " is '", digits,
                  "': want a whole number of at least 1");
  return count;
}

class TbbTaskPool final : public ITaskPool {
 public:
  TbbTaskPool() {
    set_thread_count(default_thread_count());
    platform::around_fork(nullptr, nullptr, [] { static_cast<TbbTaskPool&>(task_pool()).left_alone(); });
  }

  void parallel_for(std::int64_t n, std::int64_t grain,
                    void (*body)(void* context, std::int64_t begin, std::int64_t end),
                    void* context) override {
    NOVAPHY_REQUIRE(grain >= 1, ErrorKind::value, "parallel_for: grain is ", grain, ": want at least 1");
    const std::int64_t chunks = n <= 0 ? 0 : (n - 1) / grain + 1;
    // Every chunk is one call whatever the thread count, so a body that keeps sums a chunk gives the same
    // bits always.
    const auto run = [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t chunk = first; chunk < last; ++chunk)
        body(context, chunk * grain, std::min(n, (chunk + 1) * grain));
    };
    if (chunks <= 1 || threads_ == 1) return run(0, chunks);
    loops.fetch_add(1, std::memory_order_relaxed);
    int loop = 0;  // its address names this loop
    const LoopScope caller(&loop);
    arena_->execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks),
                        [&](const tbb::blocked_range<std::int64_t>& range) {
                          const RangeScope worker(&loop);
                          run(range.begin(), range.end());
                        });
    });
  }

  int thread_count() const noexcept override { return threads_; }

  void set_thread_count(int count) override {
    NOVAPHY_REQUIRE(count >= 1, ErrorKind::value, "thread count is ", count, ": want at least 1");
    if (count == threads_) return;
    NOVAPHY_REQUIRE(
        !is_forked_, ErrorKind::generic,
        "thread count: this process was forked and works on one thread, as its "
        "parent's others do not exist here; start it anew instead, in Python with multiprocessing's 'spawn'");
    // The arena has room for `count` threads; the control lets oneTBB start more of them than there are
    // processors.
    limit_.reset();
    limit_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                   static_cast<std::size_t>(count));
    arena_ = std::make_unique<tbb::task_arena>(count);
    threads_ = count;
  }

 private:
  /// In a forked child: oneTBB counts on threads that the child does not have, so all work stays on this one.
  void left_alone() {
    threads_ = 1;
    is_forked_ = true;
  }

  int threads_ = 0;
  bool is_forked_ = false;
  std::unique_ptr<tbb::global_control> limit_;
  std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace

std::uint64_t parallel_loops() noexcept {
  return loops.load(std::memory_order_relaxed);
}

ITaskPool& task_pool() {
  static TbbTaskPool& pool =
      *new TbbTaskPool;  // never destroyed: plugins may still use it while the process ends
  return pool;
}

}  // namespace novaphy
