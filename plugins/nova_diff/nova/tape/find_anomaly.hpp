// SPDX-License-Identifier: Apache-2.0
// What an Anomaly looks for in a run.
#pragma once

#include <cstdint>
#include <string>

#include "nova/tape/effects.hpp"

namespace nova {

/// Whether this thread has an Anomaly.
bool looks_for_anomalies() noexcept;
/// The record whose adjoint runs now, for messages.
void set_adjoint_record(std::uint32_t record) noexcept;
/// Before a kernel or an adjoint runs: what is wrong with what it will write; empty = nothing.
std::string find_anomaly(const KernelRun& run);
/// After a custom operation has run forward.
std::string find_anomaly(const CustomRun& run);

}  // namespace nova
