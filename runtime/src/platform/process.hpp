// SPDX-License-Identifier: Apache-2.0
// What this process knows about itself: environment, machine, where the runtime's library lies.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace novaphy::platform {

/// A variable of the environment; nullopt when it is not set, or when the process runs with raised rights.
std::optional<std::string> environment(const char* name);

/// ${XDG_DATA_HOME:-~/.local/share}, ${XDG_STATE_HOME:-~/.local/state} and ${XDG_CACHE_HOME:-~/.cache};
/// empty when neither is known.
std::filesystem::path user_data_folder();
std::filesystem::path user_state_folder();
std::filesystem::path user_cache_folder();

/// libnovaphy_runtime itself, and its folder; canonical.
std::filesystem::path runtime_library();
std::filesystem::path runtime_folder();

/// "linux-x86_64".
std::string machine();

/// Calls these whenever the process forks: before it, after it in the process itself, and after it in the
/// child, which has only the thread that forked. Any may be null. posix_spawn() is no fork.
void around_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace novaphy::platform
