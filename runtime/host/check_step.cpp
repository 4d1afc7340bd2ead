// SPDX-License-Identifier: Apache-2.0
// novaphy-host check-step ID MODULE LIMIT: one conformance check, in a process that may die of it.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "check.hpp"
#include "child_command.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;

struct StepArguments {
  std::string id, module;
  double load_limit = 5.0;
};

Outcome run_named(const std::string& id, const StepContext& step) {
  static const std::map<std::string, Outcome (*)(const StepContext&)> checks = {
      {"C01", check_manifest},  {"C02", check_library},     {"C03", check_needs},
      {"C04", check_entry},     {"C05", check_other_hosts}, {"C06", check_leftovers},
      {"C07", check_published}, {"C08", check_objects},     {"C09", check_missing_requirements},
      {"C11", check_load_time}};
  try {
    return checks.at(id)(step);
  } catch (const Stop& stop) {
    return stop.outcome;
  } catch (const Exit& exit) {
    return Outcome::failure(exit.message);
  } catch (const std::exception& error) {
    return Outcome::failure(error.what());
  }
}

/// The line of the first problem without the manifest's path, which stands above all checks. What differs
/// between declared and published is C07's to tell.
std::string own_line(const ReportRow& row) {
  const auto from_load = [](const PluginProblem& problem) { return problem.code != "NP312"; };
  const auto at = std::find_if(row.problems.begin(), row.problems.end(), from_load);
  if (at == row.problems.end()) return row.reason;
  return at->code + " " + at->text;
}

/// What differs between declared and published, or null.
const PluginProblem* published_difference(const ReportRow& row) {
  const auto at = std::find_if(row.problems.begin(), row.problems.end(),
                               [](const PluginProblem& problem) { return problem.code == "NP312"; });
  return at == row.problems.end() ? nullptr : &*at;
}

ReportRow row_of(const StepContext& step, const Runtime& runtime) {
  for (const ReportRow& row : runtime.info(step.module))
    if (row.module == step.module) return row;
  throw Stop{Outcome::failure("the manifest has no module of this name any more")};
}

}  // namespace

Runtime& plan_for_check(const StepContext& step) {
  RuntimeOptions options = runtime_options(step.common);
  options.plan_only = true;
  options.journal = false;
  if (step.module.empty())
    options.enable.reset();  // a manifest that is refused has no name that could be enabled
  return Runtime::start(std::move(options));
}

ReportRow row_to_load(const StepContext& step, Runtime& runtime) {
  ReportRow row = row_of(step, runtime);
  std::error_code error;
  const bool is_built = std::filesystem::exists(row.library, error);
  if (row.state == PluginState::blocked && !is_built) throw Stop{Outcome::skip("not built: " + row.reason)};
  if (row.state == PluginState::skipped) throw Stop{Outcome::skip(row.reason)};
  if (row.state != PluginState::ready && row.state != PluginState::loaded)
    throw Stop{Outcome::failure(own_line(row))};
  return row;
}

void load_module(const StepContext& step, Runtime& runtime, bool is_np312_fine) {
  try {
    runtime.load(step.module);
  } catch (const Error& error) {
    const ReportRow row = row_of(step, runtime);
    if (row.state == PluginState::unavailable) throw Stop{Outcome::skip(row.reason)};
    const PluginProblem* difference = published_difference(row);
    if (difference != nullptr && is_np312_fine) return;
    throw Stop{
        Outcome::failure(difference != nullptr ? difference->code + " " + difference->text : own_line(row))};
  }
}

json module_manifest(const Runtime& runtime, const std::string& module) {
  for (const ReportRow& row : runtime.info(module)) {
    const json manifest = json::parse(runtime.manifest_json(row.plugin), nullptr, false);
    if (!manifest.is_object()) continue;
    for (const json& entry : manifest.value("modules", json::array()))
      if (entry.value("name", "") == module) return entry;
  }
  return json::object();
}

std::vector<std::string> required_modules(const Runtime& runtime, const std::string& module) {
  std::set<std::string> seen;
  std::vector<std::string> todo = {module};
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const json requires_of_it = module_manifest(runtime, name).value("requires", json::object());
    for (const auto& [required, range] : requires_of_it.items())
      if (seen.insert(required).second) todo.push_back(required);
  }
  return {seen.begin(), seen.end()};
}

Action add_check_step(CLI::App& app, const Common& common) {
  CLI::App* verb =
      app.add_subcommand("check-step", "One check in this process; 'check' starts it")->group("");
  const auto arguments = std::make_shared<StepArguments>();
  verb->add_option("ID", arguments->id)->required();
  verb->add_option("MODULE", arguments->module)->required();
  verb->add_option("LIMIT", arguments->load_limit)->required();
  return [&common, arguments] {
    const Outcome outcome = run_named(arguments->id, {common, arguments->module, arguments->load_limit});
    const json said = {{"verdict", static_cast<int>(outcome.verdict)}, {"text", outcome.text}};
    child_side().complete(said.dump(-1, ' ', false, json::error_handler_t::replace));
    return int{kOk};
  };
}

}  // namespace novaphy::host
