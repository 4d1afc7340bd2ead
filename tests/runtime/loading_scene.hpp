// SPDX-License-Identifier: Apache-2.0
// A state folder, and processes of their own that load plugins there.
#pragma once

#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "load/journal.hpp"
#include "platform/child_process.hpp"
#include "with_runtime.hpp"

namespace test {

inline const std::string kProcess = std::string(NOVAPHY_BUILD_DIR) + "/tests/novaphy_loading_process";

/// A state folder, a folder with copies of plugins, and processes that load them.
struct Scene {
  test::ScratchFolder folder;
  const std::string state = folder.str("state"), plugins = folder.str("plugins");

  Scene() {
    for (const auto& entry : fs::directory_iterator(kDeadly)) copy(kDeadly, entry.path().filename());
    copy(kAll, "good");
  }
  void copy(const std::string& from, const std::string& name) const {
    fs::create_directories(plugins);
    fs::copy(from + "/" + name, plugins + "/" + name, fs::copy_options::recursive);
  }
  novaphy::platform::ChildResult run(std::vector<std::string> arguments,
                                     std::chrono::milliseconds limit = std::chrono::seconds(10)) const {
    arguments.insert(arguments.begin(), plugins);
    return novaphy::platform::run_child(
        {kProcess,
         std::move(arguments),
         {{"XDG_STATE_HOME", state}, {"XDG_DATA_HOME", "/nonexistent"}, {"NOVAPHY_PLUGIN_PATH", ""}},
         limit});
  }
  fs::path journal() const { return state + "/novaphy/loading"; }
  std::size_t entries() const {
    if (!fs::exists(journal())) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(journal()), {}));
  }
  std::vector<novaphy::QuarantinedModule> quarantined() const { return novaphy::unfinished_loads(journal()); }
  std::string library(const std::string& name) const {
    return plugins + "/" + name + "/libnovaphy_" + name + ".so";
  }
};

}  // namespace test
