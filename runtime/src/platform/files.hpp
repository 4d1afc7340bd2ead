// SPDX-License-Identifier: Apache-2.0
// Files as the operating system sees them: contents, canonical paths, folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/trust.hpp"

namespace novaphy::platform {

namespace fs = std::filesystem;

/// The contents of a regular file, or why it cannot be read ("Permission denied"). Never reads more than
/// `limit` + 1 bytes, and never waits.
struct FileText {
  std::string text, error;
  std::uintmax_t size = 0;
  Permissions permissions;  ///< of the very file that was read
};
FileText read_file(const fs::path& path, std::uintmax_t limit);

/// Absolute, without links and dots; empty when nothing lies there.
fs::path canonical_or_empty(const fs::path& path);

/// Whether something lies there, links followed.
bool exists(const fs::path& path);

/// The entries of a folder, sorted by name, or why it cannot be read ("Not a directory").
struct FolderEntries {
  std::vector<fs::directory_entry> paths;  ///< they know without a further call what is a link or a folder
  std::string error;
};
FolderEntries sorted_entries(const fs::path& folder);

/// True for what lies in `folder` at any depth, and for the folder itself. Both canonical.
bool is_inside(const fs::path& path, const fs::path& folder);

}  // namespace novaphy::platform
