// SPDX-License-Identifier: Apache-2.0
#include "resolve/manifest_trust.hpp"

#include <algorithm>

#include "platform/files.hpp"

namespace novaphy {

namespace fs = std::filesystem;

ManifestTrust::ManifestTrust(const std::vector<std::string>& allowed) {
  for (const std::string& folder : allowed)
    if (fs::path root = platform::canonical_or_empty(folder); !root.empty())
      allowed_.push_back(std::move(root));
}

bool ManifestTrust::is_allowed(const fs::path& path) const {
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](const fs::path& folder) { return platform::is_inside(path, folder); });
}

bool ManifestTrust::check_folders(const fs::path& path, Problems& problems) {
  const fs::path folder = path.parent_path();
  std::optional<std::string> text;
  fs::path which = folder;
  // a sticky bit protects what lies in a folder and not the folder from further files, such as libraries
  if (const auto own = platform::permissions_of(folder)) text = own->distrust();
  if (!text)
    if (const auto& above = folders_.above(folder)) text = above->text, which = above->folder;
  if (text) problems.add("NP118", "", "'" + which.string() + "' " + *text);
  return !text;
}

void ManifestTrust::check(ManifestFile& file, Problems& problems) {
  if (file.permissions.mode == 0) return;  // not read: there is an error of its own
  if (file.permissions.group_may_write()) file.notes.push_back("its group may write the manifest");
  if (is_allowed(file.path)) return;
  if (const auto text = file.permissions.distrust())
    problems.add("NP118", "", *text);
  else
    check_folders(file.path, problems);
}

void ManifestTrust::check_link(const fs::path& link, Problems& problems) {
  const auto permissions = platform::permissions_of_link(link);
  if (!permissions || !problems.empty() || is_allowed(link)) return;
  if (const auto text = permissions->distrust())
    problems.add("NP118", "", "the link '" + link.string() + "' " + *text);
  else if (const auto& above = folders_.above(link))
    problems.add("NP118", "", "'" + above->folder.string() + "' " + above->text);
}

void ManifestTrust::check_library(const fs::path& path, const platform::Permissions& permissions,
                                  Problems& problems) {
  if (is_allowed(path)) return;
  if (const auto text = permissions.distrust()) return problems.add("NP118", "", *text);
  if (!check_folders(path, problems)) return;
  // what it brings along: libraries that it links, its Python extension
  for (const fs::directory_entry& entry : platform::sorted_entries(path.parent_path()).paths) {
    if (entry.path().filename().native().find(".so") == std::string::npos) continue;
    const auto other = platform::permissions_of(entry.path());
    if (const auto text = other ? other->distrust() : std::nullopt)
      return problems.add("NP118", "", "'" + entry.path().string() + "' " + *text);
  }
}

}  // namespace novaphy
