// SPDX-License-Identifier: Apache-2.0
// A folder of this process alone, removed at its end.
#pragma once

#include <filesystem>

namespace novaphy::platform {

class ScratchFolder {
 public:
  /// An empty folder below TMPDIR that nobody else may read. Throws Error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace novaphy::platform
