// SPDX-License-Identifier: Apache-2.0
// How often the task pool has worked on several threads.
#pragma once

#include <cstdint>

namespace novaphy {

/// The loops that have run on several threads since the process began. Any thread.
std::uint64_t parallel_loops() noexcept;

}  // namespace novaphy
