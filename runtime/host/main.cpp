// SPDX-License-Identifier: Apache-2.0
// novaphy-host: reads the command line and calls the verb.
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "novaphy/log.hpp"
#include "novaphy/probe.hpp"
#include "verbs.hpp"

namespace novaphy::host {
namespace {

void add_common(CLI::App& app, Common& common) {
  app.add_flag("--json", common.json, "Answer in JSON on stdout");
  app.add_option("--config", common.config, "A novaphy.host.json")->type_name("FILE");
  app.add_option("--plugins", common.plugins, "Exactly these plugins and what they require: a,b")
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--plugin", common.manifests, "A manifest that is searched first; may be given again")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_option("--allow-writable", common.allow_writable, "A folder whose files others may write or own")
      ->allow_extra_args(false)
      ->type_name("DIR");
  app.add_option("--log", common.log, "Lowest level of the log on stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
}

void set_level(const Common& common, bool is_quiet) {
  static const std::map<std::string, LogLevel> levels = {
      {"trace", LogLevel::trace}, {"debug", LogLevel::debug}, {"info", LogLevel::info},
      {"warn", LogLevel::warn},   {"error", LogLevel::error}, {"off", LogLevel::off}};
  if (!common.log.empty())
    set_log_level(levels.at(common.log));
  else if (is_quiet)
    set_log_level(LogLevel::error);  // the verb itself prints what is wrong with the plugins
}

int run(int argc, char** argv) {
  CLI::App app("Lists, explains and runs NovaPhy's plugins", "novaphy-host");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "novaphy-host " + Runtime::version());
  Common common;
  common.command.assign(argv, argv + argc);
  add_common(app, common);
  const std::map<std::string, Action> verbs = {{"list", add_list(app, common)},
                                               {"why", add_why(app, common)},
                                               {"run", add_run(app, common)},
                                               {"manifest-schema", add_manifest_schema(app, common)},
                                               {"errors", add_errors(app, common)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (argc > 1 && argv[1][0] != '-' && !verbs.contains(argv[1]))
      throw Exit{kUsage,
                 std::string("no verb '") + argv[1] + "'; there are: list, why, run, manifest-schema, errors"};
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  const std::string verb = app.get_subcommands().front()->get_name();
  set_level(common, verb != "run");
  const int code = verbs.at(verb)();
  Runtime::shutdown();
  return code;
}

}  // namespace

Runtime& start_runtime(const Common& common) {
  RuntimeOptions options;
  options.config_file = common.config;
  options.manifests = common.manifests;
  options.allow_writable = common.allow_writable;
  if (!common.plugins.empty()) options.enable = common.plugins;
  try {
    return Runtime::start(std::move(options));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::parse) throw Exit{kBadConfig, error.what()};
    throw;
  }
}

std::string printed(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace novaphy::host

int main(int argc, char** argv) {
  using namespace novaphy::host;
  try {
    if (argc == 3 && std::string_view(argv[1]) == "probe-child") return novaphy::run_probe_child(argv[2]);
    return run(argc, argv);
  } catch (const Exit& exit) {
    std::cerr << "novaphy-host: " << exit.message << "\n";
    return exit.code;
  } catch (const std::exception& error) {
    std::cerr << "novaphy-host: " << error.what() << "\n";
    return kPluginFailed;
  } catch (...) {
    std::cerr << "novaphy-host: a plugin threw something that is no exception object\n";
    return kPluginFailed;
  }
}
