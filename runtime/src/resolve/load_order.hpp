// SPDX-License-Identifier: Apache-2.0
// The order in which healthy modules load.
#pragma once

#include <vector>

#include "resolve/plan.hpp"

namespace novaphy {

/// Rows in state `ready`: by phase, what is required (or optional and there) first, else by name. An optional
/// module that would close a circle is dropped from the row's `optional`.
std::vector<std::size_t> load_order(std::vector<PlannedModule>& rows, const std::vector<ManifestFile>& files);

}  // namespace novaphy
