// SPDX-License-Identifier: Apache-2.0
// run --watch: starts the program again whenever a plugin changes.
#pragma once

#include <string>

#include "verbs.hpp"

namespace novaphy::host {

/// Runs `command` (this program's command line without --watch) until it is interrupted; each change of a
/// manifest or library that the runtime sees ends it and starts it again. Returns 128 + the signal.
int watch(const Common& common);

}  // namespace novaphy::host
