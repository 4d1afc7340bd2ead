// SPDX-License-Identifier: Apache-2.0
// Files as the operating system sees them: contents, canonical paths, who may write them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace novaphy::platform {

namespace fs = std::filesystem;

/// The contents of a regular file, or why it cannot be read ("Permission denied"). Never reads more than
/// `limit` + 1 bytes, and never waits.
struct FileText {
  std::string text, error;
  std::uintmax_t size = 0;
};
FileText read_file(const fs::path& path, std::uintmax_t limit);

/// Absolute, without links and dots; empty when nothing lies there.
fs::path canonical_or_empty(const fs::path& path);

/// The entries of a folder, sorted, or why it cannot be read ("Not a directory").
struct FolderEntries {
  std::vector<fs::path> paths;
  std::string error;
};
FolderEntries sorted_entries(const fs::path& folder);

/// True for what lies in `folder` at any depth, and for the folder itself. Both canonical.
bool is_inside(const fs::path& path, const fs::path& folder);

/// Why a file or folder is not to be trusted: everyone may write it, or its owner is neither this user nor
/// root. nullopt when it is fine.
std::optional<std::string> distrust(const fs::path& path);
/// True for a file that its group may write.
bool group_may_write(const fs::path& path);

}  // namespace novaphy::platform
