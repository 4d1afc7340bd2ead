// SPDX-License-Identifier: Apache-2.0
#include "resolve/discover.hpp"

#include <algorithm>
#include <unordered_set>

#include "platform/files.hpp"
#include "platform/process.hpp"
#include "resolve/manifest_trust.hpp"

namespace novaphy {
namespace {

namespace fs = std::filesystem;

bool is_manifest(const fs::path& path) {
  return path.native().ends_with(kManifestSuffix);
}

/// `path` as seen from the current folder; as it is where there is none, or where it is empty.
fs::path absolute_or_same(const fs::path& path) {
  std::error_code error;
  const fs::path out = fs::absolute(path, error);
  return error ? path : out.lexically_normal();
}

class Search {
 public:
  explicit Search(const RuntimeOptions& options) : trust_(options.allow_writable) {}

  void file(const std::string& label, const fs::path& path) {
    const fs::path canonical = platform::canonical_or_empty(path);
    SearchPlace place{label, absolute_or_same(path).string(), !canonical.empty(), {}};
    // a file that is not there is read nevertheless: the error says why it cannot be
    read(canonical.empty() ? fs::path(place.path) : canonical, place);
    out_.places.push_back(std::move(place));
  }

  /// False where there is no such folder.
  bool folder(const std::string& label, const fs::path& path) {
    const fs::path canonical = platform::canonical_or_empty(path);
    SearchPlace place{label, path.string(), !canonical.empty(), {}};
    if (place.exists) {
      const platform::FolderEntries entries = platform::sorted_entries(canonical);
      if (!entries.error.empty()) note(place.path + ": cannot be searched: " + entries.error);
      for (const fs::directory_entry& entry : entries.paths) plugin_folder(entry, place);
    }
    out_.places.push_back(std::move(place));
    return out_.places.back().exists;
  }

  void note(const std::string& text) { out_.notes.push_back(printable(text)); }

  Discovery take() { return std::move(out_); }

 private:
  /// Where an entry leads; empty, and said, for a link to nothing. Folders above are canonical already.
  fs::path target(const fs::directory_entry& entry) {
    std::error_code unknown;
    if (!entry.is_symlink(unknown)) return entry.path();
    fs::path canonical = platform::canonical_or_empty(entry.path());
    if (canonical.empty()) note(entry.path().string() + ": is a link to something that does not exist");
    return canonical;
  }

  void plugin_folder(const fs::directory_entry& entry, SearchPlace& place) {
    const fs::path canonical = target(entry);
    if (canonical.empty()) return;
    if (is_manifest(entry.path())) {
      note(entry.path().string() +
           ": lies in the folder that is searched and is not read; search the folder above, " +
           entry.path().parent_path().parent_path().string());
      return;
    }
    std::error_code unknown;
    if (!entry.is_directory(unknown)) return;  // a link to one is one, too
    const platform::FolderEntries entries = platform::sorted_entries(canonical);
    if (!entries.error.empty()) note(entry.path().string() + ": cannot be searched: " + entries.error);
    for (const fs::directory_entry& inside : entries.paths) {
      if (!is_manifest(inside.path())) continue;
      if (const fs::path manifest = target(inside); !manifest.empty())
        read(manifest, place, entry.is_symlink(unknown) ? &entry.path() : nullptr);
    }
  }

  void read(const fs::path& manifest, SearchPlace& place, const fs::path* link = nullptr) {
    place.found.push_back(manifest.string());
    if (!seen_.insert(manifest.string()).second) return;
    ManifestFile file = read_manifest(manifest);
    Problems problems(manifest.string());
    trust_.check(file, problems);
    if (link) trust_.check_link(*link, problems);
    for (PluginProblem& problem : problems.take()) file.problems.push_back(std::move(problem));
    for (const ModuleManifest& module : file.manifest.modules)
      if (!platform::exists(manifest.parent_path() / module.library))
        file.missing_libraries.insert(module.name);
    out_.files.push_back(std::move(file));
  }

  ManifestTrust trust_;
  Discovery out_;
  std::unordered_set<std::string> seen_;
};

void search_environment(Search& search) {
  const auto value = platform::environment("NOVAPHY_PLUGIN_PATH");
  if (!value || value->empty()) return;
  std::size_t begin = 0;
  while (begin <= value->size()) {
    const std::size_t end = std::min(value->find(':', begin), value->size());
    const std::string entry = value->substr(begin, end - begin);
    if (entry.empty())
      search.note("NOVAPHY_PLUGIN_PATH: an empty entry is ignored; remove the extra ':'");
    else if (!fs::path(entry).is_absolute())
      search.note("NOVAPHY_PLUGIN_PATH: '" + entry + "' is relative and ignored; write an absolute path");
    else if (!search.folder("NOVAPHY_PLUGIN_PATH", entry))
      search.note("NOVAPHY_PLUGIN_PATH: '" + entry + "' does not exist; correct it, or make the folder");
    begin = end + 1;
  }
}

/// Everywhere but beside the runtime.
void search_elsewhere(Search& search, const RuntimeOptions& options,
                      const std::vector<std::string>& config_paths) {
  for (const std::string& manifest : options.manifests) search.file(options.source, manifest);
  for (const std::string& path : config_paths) search.folder(options.config_file, path);
  for (const std::string& path : options.paths) search.folder(options.source, absolute_or_same(path));
  search_environment(search);
  for (const std::string& path : options.entry_point_paths)
    search.folder("entry points", absolute_or_same(path));
  if (const fs::path data = platform::user_data_folder(); !data.empty())
    search.folder("user data", data / "novaphy/plugins");
}

}  // namespace

Discovery discover(const RuntimeOptions& options, const std::vector<std::string>& config_paths) {
  Search search(options);
  if (options.safe)
    search.note("safe: only the folder beside the runtime is searched");
  else
    search_elsewhere(search, options, config_paths);
  search.folder("beside the runtime", platform::runtime_folder() / "novaphy/plugins");
  return search.take();
}

}  // namespace novaphy
