// SPDX-License-Identifier: Apache-2.0
// "did you mean": the known name that is closest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "novaphy/runtime.hpp"  // nearest_name()

namespace novaphy {

/// "; did you mean 'x'?" or nothing; `most_edits` where a name that is only similar would mislead.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         std::size_t most_edits = 1000);

}  // namespace novaphy
