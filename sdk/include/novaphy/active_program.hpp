// SPDX-License-Identifier: Apache-2.0
// The program that a thread records: one place that every library shares, because the header that records
// (novaphy/nova/trace.hpp) is compiled into each of them.
#pragma once

#include "novaphy/export.hpp"

namespace novaphy {

/// Null while this thread records no program. Only novaphy/nova/trace.hpp knows what it points to.
NOVAPHY_API void*& active_program() noexcept;

}  // namespace novaphy
