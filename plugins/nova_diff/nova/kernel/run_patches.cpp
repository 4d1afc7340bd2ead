// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/run_patches.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "nova/kernel/scratch.hpp"
#include "novaphy/task_pool.hpp"

namespace nova {
namespace {

using machine::From;
using machine::To;

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

Range range(const void* data, std::int64_t floats) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, data == nullptr ? begin : begin + static_cast<std::uintptr_t>(floats) * sizeof(float)};
}

constexpr std::int64_t kSumRows = 4096;  // shared vertices a task

void sum_shared(machine::SumShared sum, const machine::Piece& piece, const PatchPlan& plan,
                const float* corners, float* output) {
  const machine::SharedVertex* const vertices = plan.shared_vertices().data();
  novaphy::parallel_for(static_cast<std::int64_t>(plan.shared_vertices().size()), kSumRows,
                        [&](std::int64_t begin, std::int64_t end) {
                          sum(piece, vertices + begin, vertices + end, corners, output);
                        });
}

}  // namespace

bool writes_what_it_reads(const Code& code, const PatchPlan& plan, const void* const* arguments,
                          void* const* outputs, std::int64_t rows) {
  for (const machine::Piece& piece : code.pieces) {
    const Range written = range(outputs[piece.output], plan.vertex_end() * piece.width);
    for (const auto* const loads : {&code.loads, &code.uniforms})
      for (const machine::Load& l : *loads) {
        if (l.from == From::value) continue;
        const std::int64_t count = l.from == From::gather_row ? plan.vertex_end()
                                   : l.from == From::row      ? rows
                                                              : 1;
        if (range(arguments[l.argument], l.bytes ? count / 4 + 1 : count * l.width).meets(written)) return true;
      }
    for (const machine::Piece& other : code.pieces)
      if (other.output != piece.output &&
          range(outputs[other.output], plan.vertex_end() * other.width).meets(written))
        return true;
    for (const machine::Store& s : code.stores)
      if ((s.to == To::set || s.to == To::add) && range(outputs[s.output], rows * s.width).meets(written))
        return true;
  }
  return false;
}

void run_plan(const Code& code, const PatchPlan& plan, const machine::Binding& binding,
              machine::SumShared sum, bool parallel,
              const std::function<void(const machine::PatchTask&)>& run) {
  const auto& tasks = plan.tasks();
  if (!parallel || tasks.size() == 1 || novaphy::task_pool().thread_count() == 1)
    return run({.patches = plan.patches().data(), .count = static_cast<std::int64_t>(plan.patches().size())});
  const std::size_t per_piece = 4 * static_cast<std::size_t>(plan.shared_corners());
  const Lease memory(per_piece * code.pieces.size() + 1);
  std::vector<float*> shared;
  for (std::size_t k = 0; k < code.pieces.size(); ++k) shared.push_back(memory.data() + k * per_piece);
  novaphy::parallel_for(static_cast<std::int64_t>(tasks.size()), 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t k = begin; k < end; ++k) {
                            const PatchPlan::Task& task = tasks[static_cast<std::size_t>(k)];
                            run({.patches = plan.patches().data() + task.first_patch,
                                 .count = static_cast<std::int64_t>(task.patches),
                                 .shared = shared.data()});
                          }
                        });
  for (std::size_t k = 0; k < code.pieces.size(); ++k)
    if (void* const data = binding.outputs[code.pieces[k].output])
      sum_shared(sum, code.pieces[k], plan, shared[k], static_cast<float*>(data));
}

}  // namespace nova
