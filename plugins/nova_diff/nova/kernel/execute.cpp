// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/execute.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "nova/backend/dispatch.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/task_pool.hpp"

namespace nova {
namespace {

constexpr std::int64_t kBlockRows = 256;       // tasks are multiples of this
constexpr std::int64_t kSmallestTask = 20000;  // operations; less is not worth waking a thread
std::atomic<std::int64_t> rows_per_task{0};    // 0 = by cost

/// Memory of one thread that only grows.
class Scratch {
 public:
  float* reserve(std::size_t count) {
    if (count > size_) {
      size_ = std::max(count, 2 * size_);
      block_.reset(static_cast<float*>(std::aligned_alloc(64, (size_ * sizeof(float) + 63) / 64 * 64)));
      if (!block_)
        novaphy::fail(novaphy::ErrorKind::generic, "nova: out of memory: could not allocate ",
                      size_ * sizeof(float), " bytes");
    }
    return block_.get();
  }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> block_;
  std::size_t size_ = 0;
};

/// Rounding to nearest with denormals kept, also where another library has changed the mode of this thread.
class FloatingPointMode {
 public:
#if defined(__x86_64__)
  FloatingPointMode() : saved_(_mm_getcsr()) {
    if (saved_ & kChanged) _mm_setcsr(saved_ & ~kChanged);
  }
  ~FloatingPointMode() {
    if (saved_ & kChanged) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned kChanged =
      0x8000u | 0x0040u | 0x6000u;  // flush to zero, denormals are zero, rounding
  unsigned saved_;
#else
  FloatingPointMode() {}
#endif
};

int lanes_for(std::int64_t rows) {
  return rows < 8 ? 1 : rows <= 64 ? 16 : 128;
}

void run_rows(machine::Run run, int lanes, const machine::Machine& m, const machine::Binding& b,
              std::int64_t begin, std::int64_t end) {
  thread_local Scratch registers;
  run(m, b, begin, end, lanes,
      registers.reserve(static_cast<std::size_t>(m.registers) * static_cast<std::size_t>(lanes) + 16));
}

struct Target {
  float* data;
  const std::int32_t* index;
};

Target target(const Staged& s, const void* const* arguments, void* const* outputs) {
  return {static_cast<float*>(outputs[s.output]), static_cast<const std::int32_t*>(arguments[s.index])};
}

// Adds the staged corner values of one output to their rows, element by element and corner by corner.
void scatter(const Staged* group, std::size_t count, const float* staged, std::int64_t elements,
             const void* const* arguments, void* const* outputs) {
  const auto [data, index] = target(*group, arguments, outputs);
  const bool subtract = group->how == Staged::How::scatter_sub;
  for (std::int64_t e = 0; e < elements; ++e)
    for (std::size_t k = 0; k < count; ++k) {
      const Staged& s = group[k];
      const std::int64_t row = index[e * s.index_width + s.index_column];
      if (row < 0) continue;
      const float value = staged[s.slot * elements + e];
      float& to = data[row * s.width + s.component];
      to = subtract ? to - value : to + value;
    }
}

void finish(const Code& code, const machine::Binding& b) {
  for (std::size_t k = 0; k < code.staged.size();) {
    const Staged& s = code.staged[k];
    float* const data = target(s, b.arguments, b.outputs).data;
    std::size_t next = k + 1;
    switch (s.how) {
      case Staged::How::sum_set:
        data[s.component] = tree_sum(b.staged_row + s.slot * b.rows, b.rows);
        break;
      case Staged::How::sum_add:
        data[s.component] += tree_sum(b.staged_row + s.slot * b.rows, b.rows);
        break;
      case Staged::How::domain_add:
        for (std::int64_t d = 0; d < b.domain; ++d)
          data[d * s.width + s.component] +=
              tree_sum(b.staged_loop + (s.slot * b.domain + d) * b.rows, b.rows);
        break;
      case Staged::How::scatter_add:
      case Staged::How::scatter_sub:
      case Staged::How::scatter_pair_add: {
        while (next < code.staged.size() && code.staged[next].output == s.output) ++next;
        const bool pair = s.how == Staged::How::scatter_pair_add;
        scatter(&s, next - k, pair ? b.staged_loop : b.staged_row, pair ? b.rows * b.domain : b.rows,
                b.arguments, b.outputs);
        break;
      }
    }
    k = next;
  }
}

struct StagedMemory {
  Scratch row, loop;
};

machine::Binding bind(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
                      std::int64_t domain) {
  thread_local StagedMemory memory;
  machine::Binding b{.arguments = arguments, .outputs = outputs, .rows = rows, .domain = domain};
  if (code.row_slots > 0)
    b.staged_row = memory.row.reserve(code.row_slots * static_cast<std::size_t>(rows) + 1);
  if (code.loop_slots > 0)
    b.staged_loop = memory.loop.reserve(code.loop_slots * static_cast<std::size_t>(rows * domain) + 1);
  return b;
}

std::int64_t task_rows(const Code& code, std::int64_t domain) {
  const std::int64_t asked = rows_per_task.load(std::memory_order_relaxed);
  if (asked > 0) return asked;
  const std::int64_t operations =
      static_cast<std::int64_t>(code.code.size()) * std::max<std::int64_t>(domain, 1) + 1;
  return (kSmallestTask / operations / kBlockRows + 1) * kBlockRows;
}

}  // namespace

float tree_sum(const float* values, std::int64_t count) {
  if (count <= 1) return count == 1 ? values[0] : 0.0f;
  const auto leaf = [](const float* v, std::int64_t n) {
    std::array<float, 16> lane{};
    for (std::int64_t i = 0; i < n; ++i) lane[static_cast<std::size_t>(i % 16)] += v[i];
    for (std::size_t half = 8; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) lane[i] += lane[i + half];
    return lane[0];
  };
  if (count <= kBlockRows) return leaf(values, count);
  std::vector<float> sums;
  for (std::int64_t at = 0; at < count; at += kBlockRows)
    sums.push_back(leaf(values + at, std::min(kBlockRows, count - at)));
  while (sums.size() > 1) {
    std::size_t to = 0;
    for (std::size_t from = 0; from < sums.size(); from += 2)
      sums[to++] = from + 1 < sums.size() ? sums[from] + sums[from + 1] : sums[from];
    sums.resize(to);
  }
  return sums[0];
}

void execute_with(machine::Run run, int lanes, const Code& code, const void* const* arguments,
                  void* const* outputs, std::int64_t rows, std::int64_t domain) {
  const FloatingPointMode mode;
  const machine::Binding b = bind(code, arguments, outputs, rows, domain);
  run_rows(run, lanes, code.machine(), b, 0, rows);
  finish(code, b);
}

void execute(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
             std::int64_t domain) {
  const FloatingPointMode mode;
  const machine::Run run = machine::fastest();
  const machine::Machine m = code.machine();
  const machine::Binding b = bind(code, arguments, outputs, rows, domain);
  const int lanes = lanes_for(rows);
  const std::int64_t grain = rows < kBlockRows && rows_per_task.load(std::memory_order_relaxed) == 0
                                 ? rows
                                 : task_rows(code, domain);
  if (rows <= grain) {
    run_rows(run, lanes, m, b, 0, rows);
  } else {
    novaphy::parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
      const FloatingPointMode worker_mode;
      run_rows(run, lanes, m, b, begin, end);
    });
  }
  finish(code, b);
}

void set_rows_per_task(std::int64_t rows) noexcept {
  rows_per_task.store(std::max<std::int64_t>(rows, 0), std::memory_order_relaxed);
}

const char* backend_name() noexcept {
  return "interpreter";
}

}  // namespace nova
