// SPDX-License-Identifier: Apache-2.0
// novaphy-host: reads the command line and calls the verb.
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "child_command.hpp"
#include "command_line.hpp"
#include "manifest/problems.hpp"
#include "novaphy/probe.hpp"

namespace novaphy::host {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 a required plugin failed or the output could not be written, 2 wrong command line, "
    "3 wrong host configuration, 4 a check failed.";

using Verbs = std::map<std::string, Action>;

Verbs add_verbs(CLI::App& app, const Common& common) {
  Verbs verbs;
  verbs["list"] = add_list(app, common);
  verbs["why"] = add_why(app, common);
  verbs["run"] = add_run(app, common);
  verbs["check"] = add_check(app, common);
  verbs["new-plugin"] = add_new_plugin(app, common);
  verbs["doctor"] = add_doctor(app, common);
  verbs["manifest-schema"] = add_manifest_schema(app, common);
  verbs["errors"] = add_errors(app, common);
  verbs["forgive"] = add_forgive(app, common);
  verbs["completion"] = add_completion(app, common);
  verbs["check-step"] = add_check_step(app, common);
  verbs["names"] = add_names(app, common);
  verbs["can-open"] = add_can_open(app, common);
  return verbs;
}

void check_json(const Common& common, const std::string& verb) {
  for (const char* other : {"new-plugin", "forgive", "completion"})
    if (common.json && verb == other)
      throw Exit{kUsage, "'" + verb + "' has no --json; list, why, run, check, doctor and errors have it"};
}

/// A value that is empty is an unset variable of a script rather than a wish; without it pins and lists of a
/// configuration would be lost without a word.
void check_empty_values(const CLI::App& app) {
  if (app.get_group().empty()) return;  // a hidden verb, which this program starts itself
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && option->get_items_expected_max() > 0)
        throw Exit{kUsage, option->get_name() + " is empty; give it a value, or leave it out"};
}

/// What was printed is on its way before plugins are unloaded, and a full disk is no success.
void finish_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Exit{kPluginFailed,
               "the output could not be written; is the disk full, or standard output closed?"};
}

int run(int argc, char** argv) {
  CLI::App app("Lists, explains, runs, checks and begins NovaPhy's plugins", "novaphy-host");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kExitCodes);
  app.set_version_flag("--version", "novaphy-host " + Runtime::version());
  Common common;
  common.command.assign(argv, argv + argc);
  add_common(app, common);
  const Verbs verbs = add_verbs(app, common);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = app.exit(asked);
    finish_output();
    return code;
  } catch (const CLI::ParseError& error) {
    throw Exit{kUsage, explain(app, error)};
  }
  const std::string verb = app.get_subcommands().front()->get_name();
  check_json(common, verb);
  check_empty_values(app);
  check_empty_values(*app.get_subcommands().front());
  set_levels(common, verb != "run");
  const int code = verbs.at(verb)();
  finish_output();
  Runtime::shutdown();
  return code;
}

/// Names and paths in it may hold anything; its own line breaks part findings.
void complain(const std::string& message) {
  std::istringstream lines("novaphy-host: " + message);
  for (std::string line; std::getline(lines, line);) std::cerr << printable(line) << "\n";
}

/// Whether all findings about the configuration are about what the command line says: "NP404 command line:
/// ...".
bool is_about_command_line(const std::string& findings) {
  std::istringstream lines(findings);
  for (std::string line; std::getline(lines, line);)
    if (!line.substr(line.find(' ') + 1).starts_with(RuntimeOptions{}.source)) return false;
  return true;
}

}  // namespace

RuntimeOptions runtime_options(const Common& common) {
  RuntimeOptions options;
  options.config_file = common.config;
  options.manifests = common.manifests;
  options.allow_writable = common.allow_writable;
  options.safe = common.safe;
  options.no_lazy = common.no_lazy;
  options.probe = common.probe;
  if (!common.plugins.empty()) options.enable = common.plugins;
  return options;
}

Runtime& start_runtime(const Common& common, bool plan_only) {
  try {
    RuntimeOptions options = runtime_options(common);
    options.plan_only = plan_only && !common.no_lazy;
    Runtime& runtime = Runtime::start(std::move(options));
    set_module_levels(common, runtime);
    return runtime;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::parse) throw;
    throw Exit{is_about_command_line(error.what()) ? kUsage : kBadConfig, error.what()};
  }
}

std::string printed(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace novaphy::host

int main(int argc, char** argv) {
  namespace host = novaphy::host;
  try {
    if (argc == 3 && std::string_view(argv[1]) == "probe-child") return novaphy::run_probe_child(argv[2]);
    host::child_side();
    return host::run(argc, argv);
  } catch (const host::Exit& exit) {
    host::complain(exit.message);
    return exit.code;
  } catch (const std::exception& error) {
    host::complain(error.what());
    return host::kPluginFailed;
  } catch (...) {
    host::complain("a plugin threw something that is no exception object");
    return host::kPluginFailed;
  }
}
