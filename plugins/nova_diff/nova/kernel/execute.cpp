// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/execute.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "nova/kernel/patch_plan.hpp"
#include "nova/kernel/program_hash.hpp"
#include "nova/kernel/run_patches.hpp"
#include "nova/kernel/scratch.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/task_pool.hpp"

namespace nova {
namespace {

constexpr std::int64_t kSmallestTask = 20000;  // operations; less is not worth waking a thread
constexpr std::int64_t kFewestPatchRows = 64;  // below, a patch saves nothing
std::atomic<std::int64_t> rows_per_task{0};    // 0 = by cost
std::atomic<Patches> patches_wanted{Patches::where_they_pay};
std::atomic<std::size_t> builds_wanted{0};
std::atomic<bool> compiled_wanted{true};

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

std::size_t sum_count(const Code& code, std::int64_t domain) {
  return code.row_sums + code.loop_sums * static_cast<std::size_t>(domain);
}

/// What a launch works in.
class Workspace {
 public:
  Workspace(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
            std::int64_t domain)
      : binding_{.arguments = arguments,
                 .outputs = outputs,
                 .row_sums = code.row_sums,
                 .rows = rows,
                 .domain = domain,
                 .leaf_count = (rows + kLeafRows - 1) / kLeafRows} {
    const std::size_t sums = sum_count(code, domain);
    if (sums == 0) return;
    leaves_.emplace(sums * static_cast<std::size_t>(binding_.leaf_count) + 1);
    binding_.leaves = leaves_->data();
  }
  /// Memory for what is scattered when all rows are done.
  void stage(const Code& code) {
    const auto rows = static_cast<std::size_t>(binding_.rows),
               domain = static_cast<std::size_t>(binding_.domain);
    if (!code.corner_indices.empty()) {
      corners_.emplace(4 * code.corner_indices.size() * rows + 4);
      binding_.staged_row = corners_->data();
    }
    if (!code.pair_scatters.empty()) {
      pairs_.emplace(code.pair_scatters.size() * rows * domain + 1);
      binding_.staged_loop = pairs_->data();
    }
  }
  const machine::Binding& binding() const noexcept { return binding_; }

 private:
  machine::Binding binding_;
  std::optional<Lease> leaves_, corners_, pairs_;
};

/// The running leaves of one task.
class RunningSums {
 public:
  RunningSums(const Code& code, const machine::Binding& shared) : binding_(shared) {
    const std::size_t count = 16 * sum_count(code, shared.domain);
    if (count == 0) return;
    lanes_.emplace(count);
    std::memset(lanes_->data(), 0, count * sizeof(float));
    binding_.lanes = lanes_->data();
  }
  const machine::Binding& binding() const noexcept { return binding_; }

 private:
  machine::Binding binding_;
  std::optional<Lease> lanes_;
};

void run_rows(machine::Run run, int lanes, const Code& code, const machine::Binding& shared,
              std::int64_t begin, std::int64_t end) {
  const RunningSums sums(code, shared);
  const Lease registers(code.registers * static_cast<std::size_t>(lanes) + 16);
  run(code.machine(), sums.binding(), begin, end, lanes, registers.data());
}

// The staged corners of one piece, row by row and column by column.
void scatter(const Code& code, std::size_t first, std::size_t last, const machine::Binding& b) {
  const machine::Piece& piece = code.pieces[code.corners[first].piece];
  float* const data = static_cast<float*>(b.outputs[piece.output]) + piece.component;
  for (std::int64_t e = 0; e < b.rows; ++e)
    for (std::size_t k = first; k < last; ++k) {
      const CornerIndex& at = code.corner_indices[k];
      const std::int64_t row =
          static_cast<const std::int32_t*>(b.arguments[at.argument])[e * at.width + at.column];
      if (row < 0) continue;
      const float* const value = b.staged_row + 4 * (static_cast<std::int64_t>(k) * b.rows + e);
      float* const to = data + row * piece.width;
      for (int j = 0; j < piece.count; ++j) to[j] = piece.subtract ? to[j] - value[j] : to[j] + value[j];
    }
}

// The numbers of one output that a loop adds to rows, pair by pair and column by column.
void scatter_pairs(const PairScatter* group, std::size_t count, const machine::Binding& b) {
  float* const data = static_cast<float*>(b.outputs[group->output]);
  const std::int64_t pairs = b.rows * b.domain;
  for (std::int64_t e = 0; e < pairs; ++e)
    for (std::size_t k = 0; k < count; ++k) {
      const PairScatter& s = group[k];
      const std::int64_t row =
          static_cast<const std::int32_t*>(b.arguments[s.index.argument])[e * s.index.width + s.index.column];
      if (row >= 0) data[row * s.width + s.component] += b.staged_loop[s.slot * pairs + e];
    }
}

void finish_sums(const Code& code, const machine::Binding& b) {
  for (const Sum& s : code.sums) {
    float* const to = static_cast<float*>(b.outputs[s.output]) + s.component;
    if (s.how == Sum::How::domain) {
      for (std::int64_t d = 0; d < b.domain; ++d)
        to[d * s.width] +=
            fold_leaves(b.leaves + (b.row_sums + s.slot * b.domain + d) * b.leaf_count, b.leaf_count);
      continue;
    }
    const float sum = fold_leaves(b.leaves + s.slot * b.leaf_count, b.leaf_count);
    *to = s.how == Sum::How::set ? sum : *to + sum;
  }
}

void finish_scatters(const Code& code, const machine::Binding& b) {
  const std::size_t corners = code.corner_indices.size();
  for (std::size_t k = 0, next; k < corners; k = next) {
    for (next = k + 1; next < corners && code.corners[next].piece == code.corners[k].piece;) ++next;
    scatter(code, k, next, b);
  }
  const auto& pairs = code.pair_scatters;
  for (std::size_t k = 0, next; k < pairs.size(); k = next) {
    for (next = k + 1; next < pairs.size() && pairs[next].output == pairs[k].output;) ++next;
    scatter_pairs(&pairs[k], next - k, b);
  }
}

std::int64_t task_rows(const Code& code, std::int64_t rows, std::int64_t domain) {
  const std::int64_t asked = rows_per_task.load(std::memory_order_relaxed);
  const bool has_sums = !code.sums.empty();  // whose leaves lie in one task
  if (asked > 0) return has_sums ? (asked + kLeafRows - 1) / kLeafRows * kLeafRows : asked;
  if (rows <= kLeafRows) return rows;
  const std::int64_t operations =
      static_cast<std::int64_t>(code.code.size()) * std::max<std::int64_t>(domain, 1) + 1;
  return (kSmallestTask / operations / kLeafRows + 1) * kLeafRows;
}

/// Whether a launch on patches is long enough (about 50 us) to be shared among threads.
bool worth_threads(const Code& code, std::int64_t rows, bool compiled) {
  const std::int64_t asked = rows_per_task.load(std::memory_order_relaxed);
  if (asked > 0) return rows > asked;
  return rows * static_cast<std::int64_t>(code.code.size()) > (compiled ? 2'000'000 : 400'000);
}

/// The plan, where the launch is to run on patches. Compiled kernels always do, if anything gathers or
/// scatters.
std::shared_ptr<const PatchPlan> plan_for(const Code& code, bool compiled, const machine::Binding& b,
                                          novaphy::Storage* index) {
  const Patches wanted = patches_wanted.load(std::memory_order_relaxed);
  if (index == nullptr || code.patch_index == kNone || wanted == Patches::never || b.rows == 0)
    return nullptr;
  const bool always = compiled || wanted == Patches::always;
  if (b.rows < kFewestPatchRows && !always) return nullptr;
  auto plan = PatchPlan::of(*index, {b.rows, code.index_width, code.first_column, code.columns});
  if (!plan->pays() && !always) return nullptr;
  return writes_what_it_reads(code, *plan, b.arguments, b.outputs, b.rows) ? nullptr : plan;
}

const machine::Build& build() noexcept {
  const std::size_t wanted = builds_wanted.load(std::memory_order_relaxed);
  return wanted == 0 ? machine::fastest() : machine::builds()[std::min(wanted, machine::builds().size()) - 1];
}

CompiledRun compiled_run(const Code& code) noexcept {
  const bool wanted = code.compiled != nullptr && compiled_wanted.load(std::memory_order_relaxed);
  return wanted ? code.compiled->*build().compiled : nullptr;
}

void run_compiled_rows(CompiledRun compiled, const Code& code, const machine::Binding& shared,
                       std::int64_t begin, std::int64_t end) {
  const RunningSums sums(code, shared);
  compiled(sums.binding(), {}, begin, end);
}

}  // namespace

void execute_with(machine::Run run, int lanes, const Code& code, const void* const* arguments,
                  void* const* outputs, std::int64_t rows, std::int64_t domain) {
  const FloatingPointMode mode;
  Workspace work(code, arguments, outputs, rows, domain);
  work.stage(code);
  run_rows(run, lanes, code, work.binding(), 0, rows);
  finish_sums(code, work.binding());
  finish_scatters(code, work.binding());
}

void execute(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
             std::int64_t domain, novaphy::Storage* index) {
  const FloatingPointMode mode;
  Workspace work(code, arguments, outputs, rows, domain);
  const CompiledRun compiled = compiled_run(code);
  const std::int64_t grain = std::max<std::int64_t>(task_rows(code, rows, domain), 1);
  if (const auto plan = plan_for(code, compiled != nullptr, work.binding(), index)) {
    const bool parallel = worth_threads(code, rows, compiled != nullptr);
    run_plan(code, *plan, work.binding(), build().sum_shared, parallel, [&](machine::PatchTask task) {
      const FloatingPointMode worker_mode;
      const RunningSums sums(code, work.binding());
      const Lease memory(static_cast<std::size_t>(machine::patch_workspace(code.machine())));
      task.compiled = compiled;
      build().run_patches(code.machine(), sums.binding(), task, memory.data());
    });
  } else {
    const bool by_rows = compiled != nullptr && code.patch_index == kNone;
    work.stage(code);
    novaphy::parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
      const FloatingPointMode worker_mode;
      if (by_rows)
        run_compiled_rows(compiled, code, work.binding(), begin, end);
      else
        run_rows(build().run, lanes_for(rows), code, work.binding(), begin, end);
    });
    finish_scatters(code, work.binding());
  }
  finish_sums(code, work.binding());
}

void set_rows_per_task(std::int64_t rows) noexcept {
  rows_per_task.store(std::max<std::int64_t>(rows, 0), std::memory_order_relaxed);
}
void set_patches(Patches use) noexcept {
  patches_wanted.store(use, std::memory_order_relaxed);
}
void set_builds(std::size_t count) noexcept {
  builds_wanted.store(count, std::memory_order_relaxed);
}

bool set_compiled_kernels(bool wanted) noexcept {
  compiled_wanted.store(wanted, std::memory_order_relaxed);
  return wanted && has_compiled_kernels();
}
bool compiled_kernels_wanted() noexcept {
  return compiled_wanted.load(std::memory_order_relaxed);
}

const char* backend_name() noexcept {
  return compiled_kernels_wanted() && has_compiled_kernels() ? "aot" : "interpreter";
}

}  // namespace nova
