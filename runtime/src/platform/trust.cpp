// SPDX-License-Identifier: Apache-2.0
#include "platform/trust.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "platform/process.hpp"

namespace novaphy::platform {
namespace {

std::string user_name(uid_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(user);
}

/// Who could change the code of this process anyway.
bool is_trusted_owner(uid_t owner) {
  static const std::optional<uid_t> of_runtime = []() -> std::optional<uid_t> {
    struct stat status {};
    if (stat(runtime_library().c_str(), &status) != 0) return std::nullopt;
    return status.st_uid;
  }();
  return owner == 0 || owner == geteuid() || owner == of_runtime;
}

}  // namespace

bool Permissions::group_may_write() const noexcept {
  return (mode & S_IWGRP) != 0;
}

std::optional<std::string> Permissions::distrust() const {
  if (mode & S_IWOTH) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
    return "may be written by everyone (mode " + std::string(text.data()) +
           "); chmod o-w, or pass --allow-writable DIR";
  }
  if (!is_trusted_owner(owner))
    return "is owned by '" + user_name(owner) +
           "', neither you nor root; chown it, or pass --allow-writable DIR";
  return std::nullopt;
}

Permissions permissions_of(const struct stat& status) noexcept {
  return {status.st_mode, status.st_uid};
}

std::optional<Permissions> permissions_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return permissions_of(status);
}

std::optional<Permissions> permissions_of_link(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return std::nullopt;
  return Permissions{status.st_mode & ~static_cast<unsigned>(S_IWOTH),
                     status.st_uid};  // a link's mode is 0777
}

const std::optional<FolderTrust::Finding>& FolderTrust::above(const fs::path& path) {
  return at(path.parent_path().string());
}

const std::optional<FolderTrust::Finding>& FolderTrust::at(const std::string& folder) {
  if (const auto seen = known_.find(folder); seen != known_.end()) return seen->second;
  std::optional<Finding> finding;
  if (static const std::string of_runtime = runtime_folder().string(); folder != of_runtime) {
    if (std::optional<Permissions> permissions = permissions_of(fs::path(folder))) {
      if (permissions->mode & S_ISVTX) permissions->mode &= ~static_cast<unsigned>(S_IWOTH);
      if (const auto text = permissions->distrust()) finding = Finding{folder, *text};
    }
    const std::size_t slash = folder.rfind('/');
    if (!finding && folder.size() > 1 && slash != std::string::npos)
      finding = at(slash == 0 ? "/" : folder.substr(0, slash));
  }
  return known_.emplace(folder, std::move(finding)).first->second;
}

}  // namespace novaphy::platform
