// SPDX-License-Identifier: Apache-2.0
// "did you mean": the known name that is closest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace novaphy {

/// The known name with the fewest edits (a swap of neighbours counts as one), when that is at most a third of the name's
/// length, and at least one edit is always allowed. Empty when none is near. Ties go to the earlier name.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace novaphy
