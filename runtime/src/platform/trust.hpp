// SPDX-License-Identifier: Apache-2.0
// Who may change a file: asked of its mode and owner, and of the folders that lead to it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

struct stat;

namespace novaphy::platform {

namespace fs = std::filesystem;

/// Mode and owner of a file or folder, as far as they matter for trust.
struct Permissions {
  unsigned mode = 0;
  unsigned owner = 0;

  bool group_may_write() const noexcept;
  /// Why it is not to be trusted: everyone may write it, or its owner is neither this user, nor root, nor who
  /// owns the runtime's own library and so could change that instead. nullopt when it is fine.
  std::optional<std::string> distrust() const;
};

/// Of an open or named file; nullopt when nothing lies there.
Permissions permissions_of(const struct stat& status) noexcept;
std::optional<Permissions> permissions_of(const fs::path& path);
/// Of the link itself where `path` is one, else nullopt.
std::optional<Permissions> permissions_of_link(const fs::path& path);

/// Looks at the folders that lead to a plugin, each once: whoever may rename one of them may put another
/// plugin in its place. A folder that everyone may write is fine above others when it is sticky, as /tmp is.
/// What lies above the folder of the runtime's library is not asked for what lies inside that folder.
class FolderTrust {
 public:
  struct Finding {
    fs::path folder;
    std::string text;  ///< as Permissions::distrust() says it
  };
  /// The innermost folder above `path` (canonical) that is not to be trusted.
  const std::optional<Finding>& above(const fs::path& path);

 private:
  const std::optional<Finding>& at(const std::string& folder);
  std::unordered_map<std::string, std::optional<Finding>> known_;
};

}  // namespace novaphy::platform
