// SPDX-License-Identifier: Apache-2.0
// A runtime over the fixture plugins for one test.
#pragma once

#include <string>

#include "novaphy/log.hpp"
#include "novaphy/runtime.hpp"
#include "scratch_folder.hpp"

namespace test {

inline const std::string kAll = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all";
inline const std::string kSecond = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/second";
inline const std::string kDeadly = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/deadly";
inline const std::string kBesideRuntime = std::string(NOVAPHY_BUILD_DIR) + "/lib/novaphy/plugins";
inline const std::string kSearched =
    "searched: " + kAll + ", /nonexistent/novaphy/plugins, " + kBesideRuntime;

inline std::string manifest_of(const std::string& name) {
  return kAll + "/" + name + "/" + name + ".novaplugin.json";
}
inline std::string library_of(const std::string& name) {
  return kAll + "/" + name + "/libnovaphy_" + name + ".so";
}

class WithRuntime {
 public:
  /// `state` becomes XDG_STATE_HOME; by default it cannot hold a journal of loads.
  explicit WithRuntime(novaphy::RuntimeOptions options = {}, const std::string& state = "/dev/null/none")
      : data_("XDG_DATA_HOME", "/nonexistent"),
        path_("NOVAPHY_PLUGIN_PATH", ""),
        state_("XDG_STATE_HOME", state) {
    novaphy::set_log_level(novaphy::LogLevel::off);
    if (options.paths.empty()) options.paths = {kAll};
    novaphy::Runtime::start(std::move(options));
  }
  ~WithRuntime() { novaphy::Runtime::shutdown(); }

  novaphy::Runtime* operator->() const { return &novaphy::Runtime::instance(); }

  /// The text of the error of load(name); empty when it loads.
  std::string load(const std::string& name) const {
    try {
      novaphy::Runtime::instance().load(name);
      return {};
    } catch (const novaphy::Error& error) {
      return error.kind() == novaphy::ErrorKind::plugin_not_available
                 ? error.what()
                 : std::string("other kind: ") + error.what();
    }
  }
  /// The state and the lines of the first row of a plugin: "failed | NP301 ...".
  std::string verdict(const std::string& name) const {
    const auto rows = novaphy::Runtime::instance().info(name);
    if (rows.empty()) return "unknown";
    std::string out = novaphy::to_string(rows.front().state);
    for (const novaphy::PluginProblem& problem : rows.front().problems) out += " | " + problem.line();
    return out;
  }

 private:
  WithEnvironment data_, path_, state_;
};

}  // namespace test
