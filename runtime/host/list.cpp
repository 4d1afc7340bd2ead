// SPDX-License-Identifier: Apache-2.0
// novaphy-host list: every module with its state, and why it is not ready. Opens no library.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "colours.hpp"
#include "manifest/problems.hpp"
#include "verbs.hpp"

namespace novaphy::host {

using nlohmann::json;

json row_json(const ReportRow& row) {
  std::vector<std::string> problems;
  for (const PluginProblem& problem : row.problems) problems.push_back(problem.line());
  return {{"plugin", row.plugin},          {"module", row.module}, {"version", row.version},
          {"state", to_string(row.state)}, {"path", row.path},     {"library", row.library},
          {"reason", row.reason},          {"problems", problems}, {"notes", row.notes}};
}

namespace {

void print_rows_as_json(const Runtime& runtime, const std::vector<ReportRow>& rows) {
  json out = {{"version", Runtime::version()}, {"platform", Runtime::platform()}, {"notes", runtime.notes()}};
  out["modules"] = json::array();
  for (const ReportRow& row : rows) out["modules"].push_back(row_json(row));
  out["searched"] = json::array();
  for (const SearchPlace& place : runtime.search_places())
    out["searched"].push_back(
        {{"path", place.path}, {"label", place.label}, {"exists", place.exists}, {"found", place.found}});
  std::cout << printed(out);
}

std::string coloured(const Colours& colours, const std::string& state, const std::string& text) {
  if (state == "ready" || state == "loaded") return colours.good(text);
  if (state == "rejected" || state == "failed" || state == "blocked") return colours.bad(text);
  return state == "STATE" ? text : colours.neutral(text);
}

void print_table(const Runtime& runtime, const std::vector<ReportRow>& rows) {
  std::size_t plugin = 6, module = 6;
  for (const ReportRow& row : rows) {
    plugin = std::max(plugin, row.plugin.size());
    module = std::max(module, row.module.size());
  }
  const Colours colours;
  const auto line = [&](const auto& a, const auto& b, const auto& c, const std::string& state,
                        const auto& e) {
    const std::string padded = fmt::format("{:<12}", state);
    std::cout << fmt::format("{:<{}}  {:<{}}  {:<8} {} {}\n", a, plugin, b, module, c,
                             coloured(colours, state, padded), e);
  };
  line("PLUGIN", "MODULE", "VERSION", "STATE", "MANIFEST");
  for (const ReportRow& row : rows) {
    line(row.plugin, row.module, row.version, to_string(row.state), printable(row.path));
    for (const PluginProblem& problem : row.problems)
      std::cout << "    " << printable(problem.line()) << "\n";
    for (const std::string& note : row.notes) std::cout << "    note: " << printable(note) << "\n";
  }
  for (const std::string& note : runtime.notes()) std::cout << "note: " << printable(note) << "\n";
  if (!rows.empty()) return;
  std::cout << "no plugin was found; searched:\n";
  for (const SearchPlace& place : runtime.search_places())
    std::cout << "    " << printable(place.path + " (" + place.label + ")") << "\n";
}

}  // namespace

Action add_list(CLI::App& app, const Common& common) {
  app.add_subcommand("list", "All modules: state, manifest, reason");
  return [&common] {
    const Runtime& runtime = start_runtime(common);
    const std::vector<ReportRow> rows = runtime.report();
    common.json ? print_rows_as_json(runtime, rows) : print_table(runtime, rows);
    return int{kOk};
  };
}

}  // namespace novaphy::host
