// SPDX-License-Identifier: Apache-2.0
// What the host wants: novaphy.host.json and what came from the command line or from Python, as one.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "manifest/problems.hpp"
#include "novaphy/runtime.hpp"

namespace novaphy {

inline constexpr int kHostConfigSchema = 1;

/// A plugin or module that a list of the host names, and where ("FILE#/disable/0" or "command line").
struct HostEntry {
  std::string name, path, pointer;
  bool required = true;
  std::string where() const { return pointer.empty() ? path : path + "#" + pointer; }
};

/// The SHA-256 that the host configuration wants of a library.
struct LibraryPin {
  std::string sha256;         ///< 64 hexadecimal digits, lower case
  std::string path, pointer;  ///< the configuration file, "/sha256/vbd"
};

struct HostConfig {
  bool has_list = false;   ///< `plugins` is present: exactly these and what they require
  std::string list_where;  ///< "FILE#/plugins"
  std::vector<HostEntry> plugins, disable;
  std::map<std::string, LibraryPin> pins;  ///< by module
  std::vector<std::string> paths;          ///< absolute
  std::string on_error;                    ///< "fail", "continue" or empty
  /// Options by plugin; the later ones stand above the earlier.
  struct Options {
    std::string plugin, path, pointer;
    nlohmann::json values;
  };
  std::vector<Options> options;
};

/// The keys of novaphy.host.json.
const Fields& host_config_fields();

/// What is said of a path with a NUL in it.
std::string nul_in_path(const std::string& path);

/// Reads the file of the options (if any) and joins what the options themselves say; the latter wins.
/// Problems (NP401 to NP403) go to `problems`.
HostConfig read_host_config(const RuntimeOptions& options, std::vector<PluginProblem>& problems);

/// Names that no manifest knows (NP404) and options that do not exist or do not fit (NP403, NP405, NP406).
void check_host_config(const HostConfig& host, const std::vector<ManifestFile>& files,
                       std::vector<PluginProblem>& problems);

/// The options of one plugin: defaults of the manifest with the host's values above.
nlohmann::json plugin_options(const HostConfig& host, const Manifest& manifest);

}  // namespace novaphy
