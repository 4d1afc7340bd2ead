// SPDX-License-Identifier: Apache-2.0
// The plugin objects that live.
#pragma once

#include <filesystem>
#include <map>

namespace novaphy {

/// How many there are of each library, which is the one that holds the object's virtual functions; canonical.
std::map<std::filesystem::path, std::size_t> live_objects_by_library();

}  // namespace novaphy
