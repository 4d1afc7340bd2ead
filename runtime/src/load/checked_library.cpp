// SPDX-License-Identifier: Apache-2.0
#include "load/checked_library.hpp"

#include "platform/files.hpp"
#include "platform/opened_file.hpp"
#include "platform/shared_library.hpp"
#include "resolve/manifest_trust.hpp"

namespace novaphy {

namespace fs = std::filesystem;

CheckedLibrary::CheckedLibrary(const fs::path& folder, const std::string& library,
                               const std::vector<std::string>& allow_writable, const LibraryPin* pin)
    : path_(platform::canonical_or_empty(folder / library)) {
  if (path_.empty()) throw LoadFailure{"NP301", "library " + library + " not found; was the plugin built?"};
  if (!platform::is_inside(path_, folder))
    throw LoadFailure{
        "NP113", "'" + library + "' is a link to " + path_.string() + ", which leaves the plugin's folder"};
  try {
    file_ = std::make_unique<platform::OpenedFile>(path_);
    check_trust(library, allow_writable);
    if (pin != nullptr) check_pin(library, *pin);
  } catch (const platform::FileError& error) {
    throw LoadFailure{"NP301", "library " + library + " " + error.text + "; was the plugin built?"};
  }
}

CheckedLibrary::~CheckedLibrary() = default;

void CheckedLibrary::check_trust(const std::string& library,
                                 const std::vector<std::string>& allow_writable) const {
  Problems problems(path_.string());
  ManifestTrust(allow_writable).check_library(path_, file_->permissions(), problems);
  if (problems.empty()) return;
  const std::string& text = problems.list().front().text;
  throw LoadFailure{"NP118", text.starts_with("'") ? text : "library " + library + " " + text};
}

void CheckedLibrary::check_pin(const std::string& library, const LibraryPin& pin) const {
  if (const std::string found = file_->sha256(); found != pin.sha256)
    throw LoadFailure{"NP317", "library " + library + " has sha256 " + found + ", " + pin.path + "#" +
                                   pin.pointer + " wants " + pin.sha256 +
                                   "; install the build that was pinned, or change the pin"};
}

void CheckedLibrary::check_loaded(platform::SharedLibrary& loaded) const {
  if (!file_->is_mapped_at(platform::mapped_address(loaded)))
    throw LoadFailure{"NP318",
                      path_.string() +
                          " is not the file that was checked: it was replaced meanwhile, or this process "
                          "has loaded an earlier one of that path; start the process again"};
}

}  // namespace novaphy
