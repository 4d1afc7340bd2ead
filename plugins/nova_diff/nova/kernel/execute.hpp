// SPDX-License-Identifier: Apache-2.0
// Runs lowered code over all rows: threads, sums, scatters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nova/backend/dispatch.hpp"
#include "nova/kernel/code.hpp"
#include "nova/kernel/sums.hpp"
#include "novaphy/array.hpp"

namespace nova {

/// Arguments and outputs in the program's order. Results do not depend on threads, block width, instruction
/// set or tier. `index`: the array behind argument `code.patch_index`, beside which the patches are kept;
/// null = none.
void execute(const Code& code, const void* const* arguments, void* const* outputs, std::int64_t rows,
             std::int64_t domain, novaphy::Storage* index = nullptr);

/// The same on one build and block width, on this thread and without patches: what tests compare.
void execute_with(machine::Run run, int lanes, const Code& code, const void* const* arguments,
                  void* const* outputs, std::int64_t rows, std::int64_t domain);

/// For tests: how execute() works. Results do not depend on it.
enum class Patches : std::uint8_t { where_they_pay, always, never };
void set_patches(Patches use) noexcept;
/// For tests: the builds[0 .. count-1] that execute() may use; 0 = all that this processor can run.
void set_builds(std::size_t count) noexcept;

}  // namespace nova
