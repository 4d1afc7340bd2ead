// SPDX-License-Identifier: Apache-2.0
// NP118: what somebody else could change is not loaded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "platform/trust.hpp"

namespace novaphy {

/// Judges manifests and the folders that lead to them; what lies in an allowed folder is not judged.
class ManifestTrust {
 public:
  explicit ManifestTrust(const std::vector<std::string>& allowed);

  /// Adds the first NP118 of a manifest that was read: the file itself, its folder, what lies above. What its
  /// group may write is a note.
  void check(ManifestFile& file, Problems& problems);
  /// Adds NP118 for a link in a folder that is searched, where a stranger made it.
  void check_link(const std::filesystem::path& link, Problems& problems);
  /// The same for a library that is open, and for the other libraries in its folder.
  void check_library(const std::filesystem::path& path, const platform::Permissions& permissions,
                     Problems& problems);

 private:
  bool is_allowed(const std::filesystem::path& path) const;
  bool check_folders(const std::filesystem::path& path, Problems& problems);

  std::vector<std::filesystem::path> allowed_;
  platform::FolderTrust folders_;
};

}  // namespace novaphy
