// SPDX-License-Identifier: Apache-2.0
#include "manifest/manifest.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "manifest/json_text.hpp"
#include "manifest/options.hpp"

namespace novaphy {
namespace {

using nlohmann::json;

constexpr JsonTextCodes kTextCodes{"NP101", "NP102", "NP103", "NP104", "NP117"};
constexpr std::size_t kMaxModules = 100;  // the plan follows chains of requirements on the stack
constexpr FieldCodes kFieldCodes{"NP105", "NP106", "NP107", "NP112"};

/// The value under `key`, or `fallback`. Types were checked before.
template <class T>
T member(const json& object, const char* key, T fallback) {
  const auto at = object.find(key);
  return at == object.end() ? fallback : at->get<T>();
}

std::string string_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

void check_schema(const json& root, Problems& problems) {
  const auto at = root.find("schema");
  if (at == root.end() || !at->is_number_integer() || *at == kManifestSchema || *at > INT32_MAX) return;
  if (*at > kManifestSchema)
    problems.add(
        "NP108", "/schema",
        "is " + at->dump() + ", this runtime reads 1; update NovaPhy or use an older build of the plugin");
  else
    problems.add("NP107", "/schema", "must be 1, is " + at->dump());
}

void check_name(const json& root, const ManifestFile& file, Problems& problems) {
  const std::string name = string_at(root, "name");
  if (name.empty()) return;
  if (name != file.name)
    problems.add("NP110", "/name",
                 "is '" + name + "', the file is '" + file.path.filename().string() + "'; make them equal");
  const std::string folder = file.path.parent_path().filename().string();
  if (name != folder)
    problems.add("NP110", "/name", "is '" + name + "', the folder is '" + folder + "'; make them equal");
}

/// What a table of keys cannot see: names that stand twice, a module that requires itself.
void check_modules(const json& root, Problems& problems) {
  const auto modules = root.find("modules");
  if (modules == root.end() || !modules->is_array()) return;
  if (modules->empty()) problems.add("NP107", "/modules", "must hold at least one module");
  if (modules->size() > kMaxModules)
    problems.add(
        "NP117", "/modules",
        "holds " + std::to_string(modules->size()) + " modules, the limit is " + std::to_string(kMaxModules));
  std::set<std::string> names;
  for (std::size_t i = 0; i < modules->size(); ++i) {
    const json& module = (*modules)[i];
    if (!module.is_object()) continue;
    const std::string pointer = "/modules/" + std::to_string(i), name = string_at(module, "name");
    if (!name.empty() && !names.insert(name).second)
      problems.add("NP104", pointer + "/name",
                   "'" + name + "' is the name of an earlier module; give each its own");
    const json required = module.value("requires", json::object()),
               optional = module.value("optional", json::object());
    for (const char* key : {"requires", "optional"})
      if (module.value(key, json::object()).contains(name))
        problems.add("NP115", pointer + "/" + key + "/" + name, "a module cannot require itself");
    for (const auto& [other, range] : optional.items())
      if (other != name && required.is_object() && required.contains(other))
        problems.add("NP115", pointer + "/optional/" + other, "stands in requires too; keep one of the two");
  }
}

std::vector<Dependency> read_dependencies(const json& module, const char* key) {
  std::vector<Dependency> out;
  const json dependencies = module.value(key, json::object());
  for (const auto& [name, range] : dependencies.items())
    out.push_back({name, *parse_range(range.get<std::string>())});
  return out;
}

Phase read_phase(const std::string& text) {
  return text == "device" ? Phase::device : text == "late" ? Phase::late : Phase::normal;
}

ModuleManifest read_module(const json& module) {
  ModuleManifest out;
  out.name = module.at("name").get<std::string>();
  out.library = module.at("library").get<std::string>();
  const Version abi = *parse_version(module.at("abi").get<std::string>() + ".0");
  out.abi_major = abi.parts[0];
  out.abi_minor = abi.parts[1];
  out.required = read_dependencies(module, "requires");
  out.optional = read_dependencies(module, "optional");
  out.conflicts = member<std::vector<std::string>>(module, "conflicts", {});
  out.phase = read_phase(string_at(module, "phase"));
  out.load_at_startup = string_at(module, "load") == "startup";
  for (const json& item : module.value("provides", json::array()))
    out.provides.push_back({item.at("interface").get<std::string>(), item.at("name").get<std::string>(),
                            string_at(item, "summary"),
                            member<std::vector<std::string>>(item, "devices", {})});
  if (const auto python = module.find("python"); python != module.end())
    out.python = PythonSection{python->at("module").get<std::string>(),
                               python->at("exports").get<std::map<std::string, std::vector<std::string>>>()};
  return out;
}

Manifest read_checked(const json& root) {
  Manifest out;
  out.name = root.at("name").get<std::string>();
  out.version_text = root.at("version").get<std::string>();
  out.version = *parse_version(out.version_text);
  out.title = string_at(root, "title");
  out.runtime = *parse_range(member<std::string>(root, "runtime", "*"));
  out.enabled = member(root, "enabled", true);
  out.platforms = member<std::vector<std::string>>(root, "platforms", {});
  for (const json& module : root.at("modules")) out.modules.push_back(read_module(module));
  out.config = root.value("config", json::object());
  return out;
}

/// Module names for messages about a manifest that is refused.
std::vector<std::string> names_of_modules(const json& root) {
  std::vector<std::string> names;
  const auto modules = root.find("modules");
  if (modules == root.end() || !modules->is_array()) return names;
  for (const json& module : *modules)
    if (const std::string name = module.is_object() ? string_at(module, "name") : ""; !name.empty())
      names.push_back(name);
  return names;
}

ManifestFile checked(ManifestFile file, Problems problems) {
  if (file.json.is_object()) {
    check_schema(file.json, problems);
    check_fields(file.json, manifest_fields(), kFieldCodes, "", problems);
    check_name(file.json, file, problems);
    check_modules(file.json, problems);
    file.module_names = names_of_modules(file.json);
    check_option_descriptions(file.json.value("config", json::object()), "/config", problems);
  }
  if (problems.empty()) file.manifest = read_checked(file.json);
  file.problems = problems.take();
  return file;
}

ManifestFile named_file(const std::filesystem::path& path) {
  ManifestFile file;
  file.path = path;
  file.name = path.filename().string();
  if (file.name.ends_with(kManifestSuffix))
    file.name.resize(file.name.size() - std::string_view(kManifestSuffix).size());
  return file;
}

}  // namespace

const char* to_string(Phase phase) noexcept {
  return phase == Phase::device ? "device" : phase == Phase::late ? "late" : "default";
}

ManifestFile read_manifest(const std::filesystem::path& path) {
  ManifestFile file = named_file(path);
  Problems problems(path.string());
  const platform::FileText text = platform::read_file(path, kMaxJsonBytes);
  file.permissions = text.permissions;
  file.json = parse_json_file(text, kTextCodes, problems);
  return checked(std::move(file), std::move(problems));
}

ManifestFile read_manifest_text(const std::filesystem::path& path, const std::string& text) {
  ManifestFile file = named_file(path);
  Problems problems(path.string());
  file.json = parse_json_text(text, kTextCodes, problems);
  return checked(std::move(file), std::move(problems));
}

}  // namespace novaphy
