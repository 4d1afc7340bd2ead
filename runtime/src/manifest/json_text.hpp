// SPDX-License-Identifier: Apache-2.0
// Reads one JSON file into a value, with the problems that lie below the level of keys.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "manifest/problems.hpp"
#include "platform/files.hpp"

namespace novaphy {

/// Codes of the problems: manifests and host configurations number them differently.
struct JsonTextCodes {
  const char *unreadable, *not_json, *not_object, *duplicate_key, *too_large;
};

inline constexpr std::uintmax_t kMaxJsonBytes = 1 << 20;
inline constexpr int kMaxJsonDepth = 16;

/// The object in a file that was read; null when `problems` says why there is none. A key that is given twice
/// is a problem, and the object is returned nevertheless.
nlohmann::json parse_json_file(const platform::FileText& file, const JsonTextCodes& codes,
                               Problems& problems);
/// The same for a text in memory.
nlohmann::json parse_json_text(const std::string& text, const JsonTextCodes& codes, Problems& problems);

/// "an object", "a string", "1.5": what a message says that a value is.
std::string describe_value(const nlohmann::json& value);

}  // namespace novaphy
