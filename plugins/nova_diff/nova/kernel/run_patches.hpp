// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a patch plan, on one thread or on several, with the same sums.
#pragma once

#include <cstdint>
#include <functional>

#include "nova/kernel/code.hpp"
#include "nova/kernel/patch_plan.hpp"

namespace nova {

/// Whether memory that the program scatters to is read by it too, or written through another output. On
/// patches a row would see what other rows have added; without patches every row sees the values before the
/// launch.
bool writes_what_it_reads(const Code& code, const PatchPlan& plan, const void* const* arguments,
                          void* const* outputs, std::int64_t rows);

/// Calls `run` for each task; `parallel` allows several threads, whose shared vertices `sum` finishes.
void run_plan(const Code& code, const PatchPlan& plan, const machine::Binding& binding,
              machine::SumShared sum, bool parallel,
              const std::function<void(const machine::PatchTask&)>& run);

}  // namespace nova
