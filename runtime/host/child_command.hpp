// SPDX-License-Identifier: Apache-2.0
// Starting this program again, with the same common flags.
#pragma once

#include <string>
#include <vector>

#include "platform/child_process.hpp"
#include "verbs.hpp"

namespace novaphy::host {

/// The common flags as arguments.
std::vector<std::string> common_arguments(const Common& common);
/// This program with the common flags; the verb and its arguments are to be added.
platform::ChildCommand own_command(const Common& common);
/// The way back to the process that started this one; made at the beginning of main().
platform::ChildSide& child_side();

}  // namespace novaphy::host
