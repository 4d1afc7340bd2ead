// SPDX-License-Identifier: Apache-2.0
// Kernels over independent rows that the build compiles for several instruction sets, and the choice at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace novaphy {

/// Runs rows [begin, end). Arguments and outputs point to the first row of packed arrays, or to a single value.
/// Any thread. An output may be the argument of the same rows.
using RowFunction = void (*)(const void* const* arguments, void* const* outputs, std::int64_t begin, std::int64_t end);

/// One kernel for every instruction set that the machine may have; all give the same bits.
struct RowKernel {
  const char* name = "";
  RowFunction base = nullptr, v3 = nullptr, v4 = nullptr;  ///< v3, v4: null where the compiler has no such set
};

/// How many of base, x86-64-v3 and x86-64-v4 this processor runs.
inline std::size_t instruction_set_count() noexcept {
#if defined(__x86_64__)
  // feature by feature, because clang 14 does not know the levels by name
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 3 : v3 ? 2 : 1;
#else
  return 1;
#endif
}

/// The function of kernel `name` for the fastest of the first `sets` instruction sets; null where the table has none.
inline RowFunction find_row_function(std::span<const RowKernel> table, std::string_view name,
                                     std::size_t sets = instruction_set_count()) noexcept {
  for (const RowKernel& kernel : table) {
    if (kernel.name != name) continue;
    return sets > 2 && kernel.v4 ? kernel.v4 : sets > 1 && kernel.v3 ? kernel.v3 : kernel.base;
  }
  return nullptr;
}

}  // namespace novaphy
