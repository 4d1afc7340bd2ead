// SPDX-License-Identifier: Apache-2.0
// The child's side of RuntimeOptions::probe, for novaphy-host alone.
#pragma once

#include <string_view>

#include "novaphy/export.hpp"

namespace novaphy {

/// The work of `novaphy-host probe-child REQUEST`: loads the one module that the request names, unloads it,
/// and tells the parent. The request is JSON that the parent's runtime wrote. Returns the exit code of the
/// process: 0 when it came through, whatever the module said. Nothing of the plugin system may run in this
/// process before.
NOVAPHY_API int run_probe_child(std::string_view request);

}  // namespace novaphy
