// SPDX-License-Identifier: Apache-2.0
// novaphy-host check PLUGIN...: runs the conformance checks and prints them in TAP's form.
#include "check.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "colours.hpp"
#include "manifest/manifest.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct CheckedOne {
  Check check;
  Outcome outcome;
};

struct PluginChecks {
  CheckedPlugin plugin;
  std::vector<CheckedOne> checks;
  bool passed() const {
    return std::none_of(checks.begin(), checks.end(),
                        [](const CheckedOne& one) { return one.outcome.verdict == Verdict::failed; });
  }
};

/// The manifest that an argument means: a manifest, a plugin's folder, or nothing for a name.
std::string manifest_argument(const std::string& argument) {
  const bool is_path = argument.find('/') != std::string::npos || argument.ends_with(kManifestSuffix) ||
                       argument == "." || argument == "..";
  if (!is_path) return {};
  std::error_code error;
  fs::path path = fs::canonical(argument, error);
  if (error)
    throw Exit{kUsage, argument + ": " + error.message() + "; give a plugin's name, folder or manifest"};
  if (fs::is_directory(path, error)) path /= path.filename().string() + kManifestSuffix;
  if (!fs::is_regular_file(path, error) || !path.string().ends_with(kManifestSuffix))
    throw Exit{kUsage, path.string() + " is no manifest; give a plugin's name, its folder, or its NAME" +
                           kManifestSuffix};
  return path.string();
}

/// The plugin that an argument means; an unknown one ends the program.
CheckedPlugin find_plugin(const std::string& argument, Common common) {
  CheckedPlugin out;
  out.path = manifest_argument(argument);
  common.probe = common.no_lazy = false;
  if (!out.path.empty()) common.manifests.insert(common.manifests.begin(), out.path);
  Runtime& runtime = start_runtime(common);
  std::vector<ReportRow> rows = out.path.empty() ? runtime.info(argument) : runtime.report();
  if (rows.empty()) throw Exit{kUsage, runtime.why_not(argument)};
  if (out.path.empty()) out.path = rows.front().path;
  for (const ReportRow& row : runtime.report()) {
    if (row.path != out.path) continue;
    out.name = row.plugin;
    out.version = row.version;
    if (!row.module.empty()) out.modules.push_back(row.module);
  }
  const std::vector<ReportRow> nova = runtime.info("nova");
  if (!nova.empty() && nova.front().plugin != out.name) out.nova = nova.front().plugin;
  Runtime::shutdown();
  if (out.name.empty()) {  // a manifest that cannot even be listed
    const std::string file = fs::path(out.path).filename().string();
    out.name = file.substr(0, file.size() - std::string_view(kManifestSuffix).size());
  }
  return out;
}

bool wanted(const CheckOptions& options, const std::string& id) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), id) != options.only.end();
}

PluginChecks run_checks(const Common& common, const CheckOptions& options, const CheckedPlugin& plugin,
                        const std::function<void(const CheckedOne&)>& done) {
  PluginChecks out{plugin, {}};
  CheckRunner runner(common, options, plugin);
  std::string hindrance;  // the check without which the others say nothing
  for (const Check& check : kChecks) {
    if (!wanted(options, check.id)) continue;
    const std::string id = check.id;
    const bool is_independent = id == "C02" || id == "C03";
    Outcome outcome = !hindrance.empty() && (!is_independent || hindrance == "C01")
                          ? Outcome::skip(hindrance + " failed")
                          : runner.run(id);
    const bool is_hindrance = id == "C01" || id == "C04" || id == "C07";
    if (outcome.verdict == Verdict::failed && is_hindrance && hindrance.empty()) hindrance = id;
    out.checks.push_back({check, std::move(outcome)});
    done(out.checks.back());
  }
  return out;
}

void print_check(std::size_t number, const CheckedOne& one, const Colours& colours) {
  const bool failed = one.outcome.verdict == Verdict::failed;
  std::cout << (failed ? colours.bad("not ok") : colours.good("ok")) << " " << number << " - " << one.check.id
            << " " << one.check.title;
  if (one.outcome.verdict == Verdict::skipped) {
    std::cout << " # SKIP " << one.outcome.text << std::endl;
    return;
  }
  std::cout << "\n";
  std::istringstream lines(one.outcome.text);
  for (std::string line; std::getline(lines, line);) std::cout << "  # " << line << "\n";
  std::cout << std::flush;
}

const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::ok ? "ok" : verdict == Verdict::failed ? "failed" : "skipped";
}

json to_json(const PluginChecks& done) {
  json checks = json::array();
  for (const CheckedOne& one : done.checks)
    checks.push_back({{"id", one.check.id},
                      {"title", one.check.title},
                      {"state", verdict_name(one.outcome.verdict)},
                      {"text", one.outcome.text}});
  return {{"plugin", done.plugin.name},
          {"version", done.plugin.version},
          {"path", done.plugin.path},
          {"passed", done.passed()},
          {"checks", checks}};
}

void check_ids(const CheckOptions& options) {
  std::vector<std::string> known;
  for (const Check& check : kChecks) known.push_back(check.id);
  for (const std::string& id : options.only)
    if (std::find(known.begin(), known.end(), id) == known.end())
      throw Exit{kUsage, "--only " + id + ": no such check; there are C01 to C11"};
}

/// What is wrong with a time limit.
std::string time_limit_fault(const std::string& text) {
  double value = 0.0;
  const bool is_number = CLI::detail::lexical_cast(text, value);
  return is_number && value > 0.0 && value <= 3600.0
             ? std::string()
             : "is '" + text + "'; give seconds above 0, at most 3600";
}

int check_plugins(const CheckOptions& options, const Common& common) {
  check_ids(options);
  std::vector<CheckedPlugin> plugins;
  for (const std::string& argument : options.plugins) plugins.push_back(find_plugin(argument, common));
  const Colours colours;
  json document = json::array();
  std::size_t number = 0, failed = 0;
  if (!common.json) std::cout << "TAP version 14" << std::endl;
  for (const CheckedPlugin& plugin : plugins) {
    if (!common.json)
      std::cout << "# " << plugin.name << " " << plugin.version << (plugin.version.empty() ? "" : " ")
                << plugin.path << std::endl;
    const PluginChecks done = run_checks(common, options, plugin, [&](const CheckedOne& one) {
      ++number;
      failed += one.outcome.verdict == Verdict::failed ? 1 : 0;
      if (!common.json) print_check(number, one, colours);
    });
    document.push_back(to_json(done));
  }
  if (common.json)
    std::cout << printed({{"version", Runtime::version()}, {"passed", failed == 0}, {"plugins", document}});
  else
    std::cout << "1.." << number << "\n# "
              << (failed == 0 ? "all checks passed"
                              : std::to_string(failed) + " of " + std::to_string(number) + " failed")
              << std::endl;
  return failed == 0 ? kOk : kCheckFailed;
}

}  // namespace

Action add_check(CLI::App& app, const Common& common) {
  CLI::App* verb = app.add_subcommand(
      "check", "Runs the conformance checks C01 to C11 on plugins, each in a process of its own");
  const auto options = std::make_shared<CheckOptions>();
  verb->add_option("PLUGIN", options->plugins, "A plugin's name, its folder or its manifest")
      ->required()
      ->type_name("PLUGIN");
  verb->add_option("--only", options->only, "Only these checks: C02,C03")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("CHECKS");
  verb->add_option("--python", options->python,
                   "The interpreter for C10; else NOVAPHY_PYTHON, or python3 on PATH")
      ->type_name("FILE");
  verb->add_option("--load-limit", options->load_limit, "Seconds that loading may take")
      ->check(time_limit_fault)
      ->capture_default_str();
  return [&common, options] { return check_plugins(*options, common); };
}

}  // namespace novaphy::host
