// SPDX-License-Identifier: Apache-2.0
// Runs novaphy-host as a user does: exit code, stdout and stderr.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "scratch_folder.hpp"

namespace test {

struct HostResult {
  int code = -1;
  std::string out, err;
};

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `arguments` as on a command line of the shell; `plugin_path` becomes NOVAPHY_PLUGIN_PATH,
/// `state_home` where quarantine is kept (by default nowhere).
inline HostResult run_host(const std::string& arguments,
                           const std::string& plugin_path = std::string(NOVAPHY_BUILD_DIR) +
                                                            "/tests/plugins/all",
                           const std::string& state_home = "/dev/null/none") {
  const ScratchFolder folder;
  const WithEnvironment data("XDG_DATA_HOME", "/nonexistent"), path("NOVAPHY_PLUGIN_PATH", plugin_path),
      state("XDG_STATE_HOME", state_home);
  const std::string command = std::string(NOVAPHY_BUILD_DIR) + "/bin/novaphy-host " + arguments + " >" +
                              folder.str("out") + " 2>" + folder.str("err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder.path() / "out"),
          read_text(folder.path() / "err")};
}

}  // namespace test
