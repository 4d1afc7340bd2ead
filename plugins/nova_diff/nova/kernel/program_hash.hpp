// SPDX-License-Identifier: Apache-2.0
// The identity of a program: what it computes, without names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// Equal for programs that compute the same in the same way, and for no others.
std::vector<std::uint32_t> identity_of(const Program& program);
/// Of an identity.
std::uint64_t hash_of(std::span<const std::uint32_t> identity) noexcept;

/// The compiled form of a program, null when there is none. Any thread.
const CompiledKernel* find_compiled(const Program& program);

}  // namespace nova
