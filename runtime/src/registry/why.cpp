// SPDX-License-Identifier: Apache-2.0
// The resolution of one name, step by step, for a reader.
#include "registry/registry.hpp"

#include <algorithm>

namespace novaphy {
namespace {

std::string place_line(const SearchPlace& place, std::string_view name) {
  std::string out = "searched " + place.path + " (" + place.label + "): ";
  if (!place.exists) return out + "does not exist";
  for (const std::string& path : place.found)
    if (path.ends_with("/" + std::string(name) + kManifestSuffix)) return out + "holds " + path;
  const std::size_t count = place.found.size();
  return out + (count == 0
                    ? "holds no plugin"
                    : "holds " + std::to_string(count) + (count == 1 ? " other plugin" : " other plugins"));
}

}  // namespace

std::vector<std::string> Runtime::Registry::why(std::string_view name) const {
  const Lock lock(mutex_);
  std::vector<std::string> lines;
  std::vector<const PlannedModule*> rows;
  for (const PlannedModule& row : rows_)
    if (file(row).name == name || row_name(row) == name) rows.push_back(&row);
  const std::string plugin = rows.empty() ? std::string(name) : file(*rows.front()).name;
  for (const SearchPlace& place : discovery_.places) lines.push_back(place_line(place, plugin));
  for (const std::string& note : notes()) lines.push_back("note: " + note);
  if (rows.empty()) lines.push_back(unknown_name(name));
  for (const PlannedModule* row : rows) explain(*row, lines);
  return lines;
}

void Runtime::Registry::explain(const PlannedModule& row, std::vector<std::string>& lines) const {
  const Manifest& manifest = file(row).manifest;
  lines.push_back("manifest " + file(row).path.string() +
                  (file(row).problems.empty() ? ": valid, version " + manifest.version_text : ": refused"));
  const std::string who = row.module ? "module " + module(row).name : "plugin " + file(row).name;
  if (row.module) {
    for (const Dependency& dependency : module(row).required) {
      const auto other = std::find_if(rows_.begin(), rows_.end(), [&](const PlannedModule& r) {
        return r.module && module(r).name == dependency.name;
      });
      std::string line = who + " requires '" + dependency.name + "' " + dependency.range.text() + ": ";
      if (other == rows_.end())
        line += "not found";
      else
        line += file(*other).manifest.version_text + " at " + file(*other).path.string() + ", " +
                state_and_reason(other->state, other->reason());
      lines.push_back(std::move(line));
    }
    for (const Provides& item : module(row).provides)
      lines.push_back(who + " provides " + item.interface_id + " '" + item.name + "'");
  }
  for (const PluginProblem& problem : row.problems) lines.push_back(problem.line());
  for (const std::string& note : row.notes) lines.push_back("note: " + note);
  lines.push_back(who + ": " + to_string(row.state));
}

}  // namespace novaphy
