// SPDX-License-Identifier: Apache-2.0
#include "platform/host/scratch_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "novaphy/error.hpp"

namespace novaphy::platform {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "novaphy_host_XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr)
    fail(ErrorKind::generic, "cannot make a folder below ", fs::path(pattern).parent_path().string(), ": ",
         std::generic_category().message(error ? error.value() : errno),
         "; set TMPDIR to a folder that you may write");
  path_ = fs::canonical(pattern);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  // whoever worked in it may have taken the right to remove its files
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_, ignored))
    if (entry.is_directory(ignored)) chmod(entry.path().c_str(), 0700);
  fs::remove_all(path_, ignored);
}

}  // namespace novaphy::platform
