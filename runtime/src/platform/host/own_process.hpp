// SPDX-License-Identifier: Apache-2.0
// What this process is and holds, as the operating system tells it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace novaphy::platform {

/// The program that runs, canonical.
std::filesystem::path own_program();

/// Files that this process holds open for writing, apart from its streams, pipes and devices.
std::vector<std::string> files_open_for_writing();

}  // namespace novaphy::platform
