// SPDX-License-Identifier: Apache-2.0
// The identity of a program: what it computes, without names.
#pragma once

#include <cstdint>

#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

std::uint64_t hash_of(const Program& program) noexcept;

/// The compiled form of a program, null when there is none. Any thread.
const CompiledKernel* find_compiled(std::uint64_t program);

}  // namespace nova
