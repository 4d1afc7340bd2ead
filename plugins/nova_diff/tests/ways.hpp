// SPDX-License-Identifier: Apache-2.0
// A way in which kernels run: tier, patches, threads, instruction set. None of it may change a bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nova/kernel/execute.hpp"
#include "nova/kernel/patch_plan.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/task_pool.hpp"

namespace nova::test {

/// Sets how kernels run for as long as it lives.
struct Way {
  Way(Patches patches, int threads, int vertices = 0, std::int64_t task_rows = 0, std::size_t builds = 0,
      bool compiled = false) {
    set_compiled_kernels(compiled), set_patches(patches), set_patch_limits(vertices, task_rows),
        set_builds(builds);
    novaphy::task_pool().set_thread_count(threads);
    set_rows_per_task(threads == 1 ? 0 : 1);  // small launches use all threads too
  }
  ~Way() {
    set_compiled_kernels(true), set_patches(Patches::where_they_pay), set_patch_limits(0, 0), set_builds(0),
        set_rows_per_task(0);
    novaphy::task_pool().set_thread_count(threads_before);
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  int threads_before = novaphy::task_pool().thread_count();
};

}  // namespace nova::test
