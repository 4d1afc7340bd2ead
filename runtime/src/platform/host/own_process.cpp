// SPDX-License-Identifier: Apache-2.0
#include "platform/host/own_process.hpp"

#include <fstream>

namespace novaphy::platform {

namespace fs = std::filesystem;

fs::path own_program() {
  return fs::canonical("/proc/self/exe");
}

std::vector<std::string> files_open_for_writing() {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error)) {
    const fs::path target = fs::read_symlink(at->path(), error);
    std::ifstream info("/proc/self/fdinfo/" + at->path().filename().string());
    for (std::string word; info >> word;)
      if (unsigned long flags = 0; word == "flags:" && info >> std::oct >> flags && (flags & 3) != 0 &&
                                   fs::is_regular_file(target, error))
        out.push_back(target);
  }
  return out;
}

}  // namespace novaphy::platform
