// SPDX-License-Identifier: Apache-2.0
#include "resolve/host_config.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "manifest/json_text.hpp"
#include "manifest/nearest_name.hpp"
#include "manifest/options.hpp"

namespace novaphy {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr JsonTextCodes kTextCodes{"NP401", "NP401", "NP401", "NP401", "NP401"};
constexpr FieldCodes kFieldCodes{"NP402", "NP403", "NP403", "NP403"};

void append(std::vector<PluginProblem>& to, Problems from) {
  for (PluginProblem& problem : from.take()) to.push_back(std::move(problem));
}

void add_list(const json& list, const std::string& path, const std::string& pointer,
              std::vector<HostEntry>& out) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json& item = list[i];
    const std::string at = pointer + "/" + std::to_string(i);
    if (item.is_string())
      out.push_back({item.get<std::string>(), path, at, true});
    else
      out.push_back({item.at("name").get<std::string>(), path, at, item.value("required", true)});
  }
}

void add_options(const json& config, const std::string& path, const std::string& pointer, HostConfig& out) {
  for (const auto& [plugin, values] : config.items())
    out.options.push_back({plugin, path, pointer + pointer_segment(plugin), values});
}

/// The configuration file, once its keys and types are in order.
void read_file(const json& root, const fs::path& file, HostConfig& out) {
  const std::string path = file.string();
  if (const auto list = root.find("plugins"); list != root.end()) {
    out.has_list = true;
    out.list_where = path + "#/plugins";
    add_list(*list, path, "/plugins", out.plugins);
  }
  add_list(root.value("disable", json::array()), path, "/disable", out.disable);
  const json pins = root.value("sha256", json::object());
  for (const auto& [module, hash] : pins.items())
    out.pins[module] = {hash.get<std::string>(), path, "/sha256" + pointer_segment(module)};
  for (const json& folder : root.value("paths", json::array()))
    out.paths.push_back((file.parent_path() / folder.get<std::string>()).lexically_normal().string());
  out.on_error = root.value("on_error", std::string());
  add_options(root.value("config", json::object()), path, "/config", out);
}

/// The system would read such a path up to the NUL: as another one.
void check_paths(const RuntimeOptions& options, std::vector<PluginProblem>& found) {
  Problems problems(options.source);
  for (const auto* paths :
       {&options.manifests, &options.paths, &options.entry_point_paths, &options.allow_writable})
    for (const std::string& path : *paths)
      if (path.find('\0') != std::string::npos) problems.add("NP403", "", nul_in_path(excerpt(path)));
  append(found, std::move(problems));
}

/// What the caller's options say; stands above the file.
void read_options(const RuntimeOptions& options, HostConfig& out, std::vector<PluginProblem>& found) {
  if (options.enable) {
    out.has_list = true;
    out.list_where = options.source;
    out.plugins.clear();
    for (const std::string& name : *options.enable) out.plugins.push_back({name, options.source, "", true});
  }
  for (const std::string& name : options.disable) out.disable.push_back({name, options.source, "", true});
  if (options.config_json.empty()) return;
  Problems problems(options.source);
  const json config = parse_json_text(options.config_json, kTextCodes, problems);
  if (config.is_object()) {
    for (const auto& [plugin, values] : config.items())
      if (!values.is_object())
        problems.add("NP403", "/config" + pointer_segment(plugin),
                     "must be an object, is " + describe_value(values));
  }
  if (problems.empty()) add_options(config, options.source, "/config", out);
  append(found, std::move(problems));
}

std::vector<std::string> plugin_names(const std::vector<ManifestFile>& files) {
  std::set<std::string> names;
  for (const ManifestFile& file : files) names.insert(file.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> all_names(const std::vector<ManifestFile>& files) {
  std::set<std::string> names;
  for (const ManifestFile& file : files) {
    names.insert(file.name);
    names.insert(file.module_names.begin(), file.module_names.end());
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> module_names(const std::vector<ManifestFile>& files) {
  std::set<std::string> names;
  for (const ManifestFile& file : files) names.insert(file.module_names.begin(), file.module_names.end());
  return {names.begin(), names.end()};
}

std::string unknown_name(const std::string& what, const std::string& name,
                         const std::vector<std::string>& known) {
  const std::string nearest = did_you_mean(name, known);
  return "no " + what + " is named '" + excerpt(name) + "'" +
         (!nearest.empty() ? nearest
          : known.empty()  ? "; none was found"
                           : "; there are: " + joined(known));
}

void check_options(const HostConfig::Options& options, const Manifest& manifest,
                   std::vector<PluginProblem>& problems) {
  std::vector<std::string> known;
  for (const auto& [name, description] : manifest.config.items()) known.push_back(name);
  for (const auto& [name, value] : options.values.items()) {
    const std::string pointer = options.pointer + pointer_segment(name);
    const auto description = manifest.config.find(name);
    if (description == manifest.config.end()) {
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) hint = known.empty() ? "; it has none" : "; it has: " + joined(known);
      problems.push_back({"NP405", options.path, printable(pointer),
                          printable("'" + manifest.name + "' has no option '" + excerpt(name) + "'" + hint)});
    } else if (const std::string misfit = option_misfit(*description, value); !misfit.empty()) {
      problems.push_back(
          {misfit.starts_with("must be") ? "NP403" : "NP406", options.path, pointer, printable(misfit)});
    }
  }
}

}  // namespace

std::string nul_in_path(const std::string& path) {
  return "'" + path + "' holds a NUL character, which no path has";
}

HostConfig read_host_config(const RuntimeOptions& options, std::vector<PluginProblem>& found) {
  HostConfig out;
  check_paths(options, found);
  if (options.config_file.find('\0') != std::string::npos) {
    Problems problems(options.source);
    problems.add("NP401", "", nul_in_path(excerpt(options.config_file)));
    append(found, std::move(problems));
  } else if (!options.config_file.empty()) {
    std::error_code no_current_folder;  // then reading it says what is wrong
    const fs::path absolute = fs::absolute(options.config_file, no_current_folder);
    const fs::path file = (no_current_folder ? fs::path(options.config_file) : absolute).lexically_normal();
    Problems problems(file.string());
    const json root = parse_json_file(platform::read_file(file, kMaxJsonBytes), kTextCodes, problems);
    if (root.is_object()) {
      check_fields(root, host_config_fields(), kFieldCodes, "", problems);
      if (problems.empty() && root.value("schema", 1) != 1)
        problems.add("NP403", "/schema", "must be 1, is " + root.at("schema").dump());
    }
    if (problems.empty()) read_file(root, file, out);
    append(found, std::move(problems));
  }
  read_options(options, out, found);
  return out;
}

void check_host_config(const HostConfig& host, const std::vector<ManifestFile>& files,
                       std::vector<PluginProblem>& problems) {
  const std::vector<std::string> names = all_names(files), plugins = plugin_names(files),
                                 modules = module_names(files);
  const bool all_readable = std::none_of(files.begin(), files.end(), [](const ManifestFile& file) {
    return !file.problems.empty() && file.module_names.empty();
  });
  const auto may_lack = [&](const std::string& name) {
    // it may stand in a manifest that is broken, and that alone takes nothing else down
    return (!all_readable && nearest_name(name, names).empty()) ||
           std::any_of(host.plugins.begin(), host.plugins.end(),
                       [&](const HostEntry& entry) { return !entry.required && entry.name == name; });
  };
  const auto check_name = [&](const char* what, const std::string& name,
                              const std::vector<std::string>& known, const std::string& path,
                              const std::string& pointer) {
    const bool is_known = std::binary_search(known.begin(), known.end(), name);
    if (!is_known && !may_lack(name))
      problems.push_back({"NP404", path, printable(pointer), printable(unknown_name(what, name, known))});
    return is_known;
  };
  for (const auto* list : {&host.plugins, &host.disable})
    for (const HostEntry& entry : *list)
      check_name("plugin or module", entry.name, names, entry.path, entry.pointer);
  for (const auto& [module, pin] : host.pins) check_name("module", module, modules, pin.path, pin.pointer);
  for (const HostConfig::Options& options : host.options) {
    if (!check_name("plugin", options.plugin, plugins, options.path, options.pointer)) continue;
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const ManifestFile& f) { return f.name == options.plugin; });
    // the options of a manifest that is refused cannot be judged
    if (file->problems.empty()) check_options(options, file->manifest, problems);
  }
}

json plugin_options(const HostConfig& host, const Manifest& manifest) {
  json out = default_options(manifest.config);
  for (const HostConfig::Options& options : host.options)
    if (options.plugin == manifest.name) out.update(options.values);
  return out;
}

}  // namespace novaphy
