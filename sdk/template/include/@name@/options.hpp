// SPDX-License-Identifier: Apache-2.0
// The plugin's options; the manifest documents and limits them.
#pragma once

#include <string_view>

#include "novaphy/export.hpp"

namespace @name@ {

struct Options {
  float drag = 0.1f;  ///< 1/s
};

/// `json`, an object with any of the options or "", over `defaults`. Throws novaphy::Error: value for an option that
/// is unknown or out of range, parse for text that is no JSON object.
NOVAPHY_API Options read_options(std::string_view json, const Options& defaults = {});

/// The options as the host configured them; the defaults before the module is loaded.
NOVAPHY_API const Options& configured();
/// What configured() returns from now on.
void configure(const Options& options);

}  // namespace @name@
