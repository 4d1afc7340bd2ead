// SPDX-License-Identifier: Apache-2.0
// What the registry answers without loading anything.
#include <algorithm>
#include <map>
#include <set>

#include "manifest/nearest_name.hpp"
#include "registry/registry.hpp"

namespace novaphy {

std::string Runtime::Registry::row_name(const PlannedModule& row) const {
  return row.module ? module(row).name : file(row).name;
}

std::string Runtime::Registry::pointer(const PlannedModule& row) const {
  return row.module ? "/modules/" + std::to_string(*row.module) : std::string();
}

bool Runtime::Registry::can_load(const PlannedModule& row) const {
  return !stopped_ && (row.state == PluginState::loaded || row.state == PluginState::loading ||
                       row.state == PluginState::ready);
}

std::vector<std::size_t> Runtime::Registry::rows_named(std::string_view name) const {
  std::vector<std::size_t> of_plugin;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool is_shadowed = !rows_[i].module && rows_[i].state == PluginState::skipped;
    if (is_shadowed) continue;
    if (rows_[i].module && module(rows_[i]).name == name) return {i};
    const auto& names = file(rows_[i]).module_names;
    const bool is_in_refused = !rows_[i].module && std::find(names.begin(), names.end(), name) != names.end();
    if (file(rows_[i]).name == name || is_in_refused) of_plugin.push_back(i);
  }
  return of_plugin;
}

bool Runtime::Registry::has(std::string_view name) const {
  const Lock lock(mutex_);
  const std::vector<std::size_t> rows = rows_named(name);
  return std::any_of(rows.begin(), rows.end(), [&](std::size_t i) { return can_load(rows_[i]); });
}

std::string Runtime::Registry::not_loaded(const PlannedModule& row) const {
  const std::string plugin = file(row).name, name = row_name(row);
  const std::string who =
      name == plugin ? "plugin '" + plugin + "'" : "module '" + name + "' of plugin '" + plugin + "'";
  if (stopped_ && row.problems.empty()) return who + " isn't loaded: the runtime has stopped";
  if (row.state == PluginState::loading)
    return who + " isn't loaded: its load has not returned yet; ask for it afterwards";
  if (row.state == PluginState::ready)
    for (const std::size_t required : row.required)
      if (rows_[required].state != PluginState::loaded)
        return who + " isn't loaded: it requires '" + row_name(rows_[required]) +
               "', whose load has not returned yet; ask for it afterwards";
  return who + " isn't loaded: " + state_and_reason(row.state, row.reason());
}

std::string Runtime::Registry::why_not(std::string_view name) const {
  const Lock lock(mutex_);
  const std::vector<std::size_t> rows = rows_named(name);
  if (rows.empty()) return unknown_name(name);
  if (std::any_of(rows.begin(), rows.end(), [&](std::size_t i) { return can_load(rows_[i]); })) return {};
  return not_loaded(rows_[rows.front()]);
}

std::string Runtime::Registry::where_searched() const {
  return "searched: " + joined(facts_.searched);
}

std::string Runtime::Registry::unknown_name(std::string_view name) const {
  if (stopped_ && rows_.empty())
    return "no plugin or module is named '" + std::string(name) + "': the runtime has stopped";
  std::set<std::string> names;
  for (const PlannedModule& row : rows_) {
    names.insert(file(row).name);
    names.insert(row_name(row));
  }
  return "no plugin or module is named '" + std::string(name) + "'" +
         (names.empty() ? "; none was found" : known_names(name, {names.begin(), names.end()})) + "; " +
         where_searched();
}

/// " (NP105 #/titel: unknown key; ...)" of a manifest that is refused, or nothing.
static std::string reason_in_brackets(const PlannedModule& row) {
  if (row.problems.empty()) return {};
  const PluginProblem& first = row.problems.front();
  return " (" + first.code + " " + (first.pointer.empty() ? std::string() : "#" + first.pointer + ": ") +
         first.text + ")";
}

/// Somebody who asks for a plugin's name where the name of what it provides is wanted.
std::string Runtime::Registry::plugin_instead(std::string_view interface_id, std::string_view name) const {
  std::vector<std::string> own;
  bool is_plugin = false;
  for (const PlannedModule& row : rows_) {
    if (!row.module || file(row).name != name) continue;
    is_plugin = true;
    for (const Provides& item : module(row).provides)
      if (item.interface_id == interface_id) own.push_back(item.name);
  }
  if (!is_plugin) return {};
  return "; '" + std::string(name) + "' is a plugin's name, and that plugin " +
         (own.empty() ? "provides none" : "provides " + joined(own));
}

std::string Runtime::Registry::unknown_interface(std::string_view interface_id, std::string_view name) const {
  std::set<std::string> names;
  std::map<std::string, std::string> refused;  // names with reasons
  for (const PlannedModule& row : rows_) {
    if (!row.module && row.state != PluginState::skipped)  // a shadowed one stands for nothing
      refused.emplace(file(row).name, file(row).name + reason_in_brackets(row));
    else if (row.module)
      for (const Provides& item : module(row).provides)
        if (item.interface_id == interface_id) names.insert(item.name);
  }
  std::string out =
      "no " + std::string(interface_id) + " is named '" + std::string(name) + "'" +
      (names.empty() ? "; no plugin provides one" : known_names(name, {names.begin(), names.end()})) +
      plugin_instead(interface_id, name) + "; ";
  if (!refused.empty()) {
    std::vector<std::string> texts;
    for (const auto& [plugin, text] : refused) texts.push_back(text);
    out += "refused: " + joined(texts) + "; ";
  }
  return out + where_searched();
}

std::vector<ProvidedInterface> Runtime::Registry::list(std::string_view interface_id) const {
  const Lock lock(mutex_);
  std::vector<ProvidedInterface> out;
  for (const PlannedModule& row : rows_) {
    if (!row.module) continue;
    for (const Provides& item : module(row).provides)
      if (item.interface_id == interface_id)
        out.push_back({item.name, item.summary, module(row).name, file(row).name, item.devices, can_load(row),
                       can_load(row) ? std::string() : not_loaded(row)});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

ReportRow Runtime::Registry::report_row(const PlannedModule& row) const {
  ReportRow out;
  out.plugin = file(row).name;
  out.path = file(row).path.string();
  out.version = file(row).manifest.version_text;
  if (row.module) {
    out.module = module(row).name;
    out.library = (file(row).path.parent_path() / module(row).library).lexically_normal().string();
  }
  out.state = row.state;
  out.reason = row.reason();
  out.problems = row.problems;
  out.notes = row.notes;
  return out;
}

std::vector<ReportRow> Runtime::Registry::report() const {
  const Lock lock(mutex_);
  std::vector<ReportRow> out;
  for (const PlannedModule& row : rows_) out.push_back(report_row(row));
  std::stable_sort(out.begin(), out.end(),
                   [](const ReportRow& a, const ReportRow& b) { return a.plugin < b.plugin; });
  return out;
}

std::vector<ReportRow> Runtime::Registry::info(std::string_view name) const {
  const Lock lock(mutex_);
  std::vector<ReportRow> out;
  for (const PlannedModule& row : rows_)
    if (file(row).name == name || row_name(row) == name) out.push_back(report_row(row));
  return out;
}

std::vector<PythonExport> Runtime::Registry::python_exports() const {
  const Lock lock(mutex_);
  std::vector<PythonExport> out;
  for (const PlannedModule& row : rows_) {
    if (!row.module || !module(row).python) continue;
    const PythonSection& python = *module(row).python;
    const std::string folder = file(row).path.parent_path().string(),
                      reason = can_load(row) ? "" : not_loaded(row);
    for (const auto& [public_module, names] : python.exports)
      for (const std::string& name : names)
        out.push_back({public_module, name, file(row).name, module(row).name, python.extension, folder,
                       can_load(row), reason});
  }
  std::stable_sort(out.begin(), out.end(), [](const PythonExport& a, const PythonExport& b) {
    return std::pair(a.public_module, a.name) < std::pair(b.public_module, b.name);
  });
  return out;
}

std::string Runtime::Registry::on_error() const {
  const Lock lock(mutex_);
  return host_.on_error;
}

std::vector<std::string> Runtime::Registry::notes() const {
  const Lock lock(mutex_);
  std::vector<std::string> out = discovery_.notes;
  if (!journal_.complaint().empty()) out.push_back(journal_.complaint());
  return out;
}

std::vector<SearchPlace> Runtime::Registry::places() const {
  const Lock lock(mutex_);
  return discovery_.places;
}

std::string Runtime::Registry::manifest_json(std::string_view plugin) const {
  const Lock lock(mutex_);
  for (const ManifestFile& file : discovery_.files)
    if (file.name == plugin) return file.json.is_object() ? file.json.dump() : std::string();
  return {};
}

std::string Runtime::Registry::config_json(std::string_view plugin) const {
  const Lock lock(mutex_);
  for (const ManifestFile& file : discovery_.files)
    if (file.name == plugin)
      return file.problems.empty() ? plugin_options(host_, file.manifest).dump() : std::string();
  return {};
}

}  // namespace novaphy
