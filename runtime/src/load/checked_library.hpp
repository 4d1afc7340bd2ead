// SPDX-License-Identifier: Apache-2.0
// A module's library between its check and its use: opened once, judged by that open file, and compared with
// what the system's loader has mapped.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "load/library.hpp"
#include "resolve/host_config.hpp"

namespace novaphy::platform {
class OpenedFile;
class SharedLibrary;
}  // namespace novaphy::platform

namespace novaphy {

class CheckedLibrary {
 public:
  /// Opens `library` (relative to the plugin's folder). Throws LoadFailure: NP301 when it is no file there,
  /// NP113 when it leads out of the folder, NP118 when others could change it, NP317 when its hash is not the
  /// pinned one.
  CheckedLibrary(const std::filesystem::path& folder, const std::string& library,
                 const std::vector<std::string>& allow_writable, const LibraryPin* pin);
  ~CheckedLibrary();

  /// Canonical.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Throws LoadFailure NP318 when the loaded library is not mapped from the file that was checked. Its
  /// static constructors have run by then: the system's loader offers no moment before them.
  void check_loaded(platform::SharedLibrary& loaded) const;

 private:
  void check_trust(const std::string& library, const std::vector<std::string>& allow_writable) const;
  void check_pin(const std::string& library, const LibraryPin& pin) const;

  std::filesystem::path path_;
  std::unique_ptr<platform::OpenedFile> file_;
};

}  // namespace novaphy
