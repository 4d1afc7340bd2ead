// SPDX-License-Identifier: Apache-2.0
// A file that is held open, so that what is checked is what is loaded.
#pragma once

#include <filesystem>
#include <string>

#include "platform/trust.hpp"

namespace novaphy::platform {

/// Why a file cannot be used: "cannot be opened: Permission denied", "is not a regular file".
struct FileError {
  std::string text;
};

/// A regular file, open for reading.
class OpenedFile {
 public:
  /// Throws FileError.
  explicit OpenedFile(const fs::path& path);
  ~OpenedFile();
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  Permissions permissions() const noexcept { return permissions_; }
  /// SHA-256 of its contents, 64 hexadecimal digits. Throws FileError.
  std::string sha256() const;
  /// Whether the memory at `address` is mapped from this very file, and the file is as it was when it was
  /// opened. Where the system does not tell (no /proc), whether the file still lies at its path.
  bool is_mapped_at(const void* address) const;

 private:
  bool is_unchanged() const;

  fs::path path_;
  int file_ = -1;
  Permissions permissions_;
  long long size_ = 0, changed_s_ = 0, changed_ns_ = 0;
};

}  // namespace novaphy::platform
