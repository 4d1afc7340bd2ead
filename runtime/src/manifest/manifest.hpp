// SPDX-License-Identifier: Apache-2.0
// A plugin's manifest, <plugin>.novaplugin.json, as read and checked.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/fields.hpp"
#include "manifest/problems.hpp"
#include "manifest/version.hpp"
#include "platform/trust.hpp"

namespace novaphy {

inline constexpr const char* kManifestSuffix = ".novaplugin.json";
inline constexpr int kManifestSchema = 1;

/// The order in which modules load.
enum class Phase : int { device = 0, normal, late };
const char* to_string(Phase phase) noexcept;

struct Dependency {
  std::string name;
  VersionRange range;
};

struct Provides {
  std::string interface_id, name, summary;
  std::vector<std::string> devices;
};

struct PythonSection {
  std::string extension;
  std::map<std::string, std::vector<std::string>> exports;  ///< public module -> names
};

struct ModuleManifest {
  std::string name, library;
  int abi_major = 0, abi_minor = 0;
  std::vector<Dependency> required, optional;
  std::vector<std::string> conflicts;
  Phase phase = Phase::normal;
  bool load_at_startup = false;
  std::vector<Provides> provides;
  std::optional<PythonSection> python;
};

struct Manifest {
  std::string name, version_text, title;
  Version version;
  VersionRange runtime;
  bool enabled = true;
  std::vector<std::string> platforms;
  std::vector<ModuleManifest> modules;
  nlohmann::json config = nlohmann::json::object();  ///< descriptions of the options
};

/// A manifest that was found: read, or refused with every problem of the file.
struct ManifestFile {
  std::filesystem::path path;               ///< canonical
  std::string name;                         ///< the file's stem, whatever the contents say
  std::vector<std::string> module_names;    ///< as far as they could be read
  Manifest manifest;                        ///< meaningful when `problems` is empty
  std::set<std::string> missing_libraries;  ///< modules whose library does not lie beside the manifest
  std::vector<PluginProblem> problems;
  std::vector<std::string> notes;
  nlohmann::json json;
  platform::Permissions permissions;  ///< of the file when it was read
};

/// Reads and checks one manifest. Never throws for what a file holds.
ManifestFile read_manifest(const std::filesystem::path& path);
/// The same for a text that stands in for the file's contents.
ManifestFile read_manifest_text(const std::filesystem::path& path, const std::string& text);

/// The keys of a manifest.
const Fields& manifest_fields();

}  // namespace novaphy
