// SPDX-License-Identifier: Apache-2.0
// The build of the interpreter that this processor runs.
#pragma once

#include <span>

#include "nova/backend/machine.hpp"
#include "novaphy/nova/compiled_kernels.hpp"

namespace nova::machine {

struct Build {
  const char* name;  ///< "base", "v3", "v4"
  Run run;
  RunPatches run_patches;
  SumShared sum_shared;
  CompiledRun CompiledKernel::*compiled;  ///< which function of a compiled kernel
};

/// The builds that this processor can run, slowest first. All give the same bits.
std::span<const Build> builds() noexcept;
/// The fastest one.
const Build& fastest() noexcept;

}  // namespace nova::machine
