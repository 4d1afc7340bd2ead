// SPDX-License-Identifier: Apache-2.0
// Finds manifests in the documented order of places. Reads text only; no library is opened.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "novaphy/runtime.hpp"

namespace novaphy {

struct Discovery {
  std::vector<SearchPlace> places;
  std::vector<ManifestFile> files;  ///< each file once, in the order of the search
  std::vector<std::string> notes;
};

/// Places: explicit manifests, `config_paths`, the options' paths, NOVAPHY_PLUGIN_PATH, entry points, the
/// user's data folder, the folder beside the runtime; where the options say `safe`, the last alone. Each
/// place is looked at one level deep: <place>/<plugin>/<plugin>.novaplugin.json. `config_paths` are absolute
/// and come from `config_file`.
Discovery discover(const RuntimeOptions& options, const std::vector<std::string>& config_paths);

}  // namespace novaphy
