// SPDX-License-Identifier: Apache-2.0
// Loads a module in a child process first, where it can do no harm.
#pragma once

#include <string>

#include "novaphy/runtime.hpp"

namespace novaphy {

/// Returns when a child has loaded and unloaded the module and come to its end. Throws LoadFailure NP316 when
/// the module crashed it, ended it or did not come back. What the module itself reports is not of interest
/// here: its load in this process will say the same.
void probe_module(const RuntimeOptions& options, const std::string& plugin, const std::string& module);

}  // namespace novaphy
