// SPDX-License-Identifier: Apache-2.0
#include "load/probe.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "load/library.hpp"
#include "novaphy/log.hpp"
#include "novaphy/probe.hpp"
#include "platform/child_process.hpp"
#include "platform/files.hpp"
#include "platform/process.hpp"

namespace novaphy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// bin/novaphy-host of the build tree, prefix or package that holds this library.
fs::path host_program() {
  for (fs::path folder = platform::runtime_folder(); folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::path program = platform::canonical_or_empty(folder / "bin" / "novaphy-host"); !program.empty())
      return program;
  return {};
}

/// What the child needs to make the same plan. It enables the one module and what that requires, so that
/// nobody else is loaded and blamed.
std::string request_for(const RuntimeOptions& options, const std::string& module) {
  return json{{"module", module},
              {"config_file", options.config_file},
              {"manifests", options.manifests},
              {"paths", options.paths},
              {"entry_point_paths", options.entry_point_paths},
              {"disable", options.disable},
              {"config_json", options.config_json},
              {"allow_writable", options.allow_writable},
              {"safe", options.safe}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

RuntimeOptions options_from(const json& request) {
  RuntimeOptions options;
  request.at("config_file").get_to(options.config_file);
  request.at("manifests").get_to(options.manifests);
  request.at("paths").get_to(options.paths);
  request.at("entry_point_paths").get_to(options.entry_point_paths);
  request.at("disable").get_to(options.disable);
  request.at("config_json").get_to(options.config_json);
  request.at("allow_writable").get_to(options.allow_writable);
  request.at("safe").get_to(options.safe);
  options.enable = {request.at("module").get<std::string>()};
  options.journal = false;  // to die is what this process is for
  return options;
}

}  // namespace

void probe_module(const RuntimeOptions& options, const std::string& plugin, const std::string& module) {
  const fs::path program = host_program();
  if (program.empty())
    throw LoadFailure{"NP316", "cannot be tried in a child process: there is no bin/novaphy-host above " +
                                   platform::runtime_folder().string() +
                                   "; install it, or load without probing"};
  const std::chrono::milliseconds limit(static_cast<std::int64_t>(options.probe_limit * 1000));
  const platform::ChildResult result =
      platform::run_child({program, {"probe-child", request_for(options, module)}, {}, limit});
  if (result.completion && result.exit_code == 0) return;
  if (!result.start_error.empty())
    throw LoadFailure{"NP316",
                      "cannot be tried in a child process: " + program.string() + " " + result.ending()};
  const std::string words = result.last_words();
  throw LoadFailure{"NP316", "a child process that loaded it first " + result.ending() +
                                 (words.empty() ? "" : " ('" + words + "')") +
                                 ", so it is not loaded here; run 'novaphy-host check " + plugin + "'"};
}

int run_probe_child(std::string_view request) {
  platform::ChildSide parent;
  set_log_level(LogLevel::off);
  const json read = json::parse(request);
  std::string outcome = "loaded";
  try {
    Runtime::start(options_from(read)).load(read.at("module").get<std::string>());
  } catch (const Error& error) {
    outcome = error.what();
  }
  Runtime::shutdown();
  parent.complete(outcome);
  return 0;
}

}  // namespace novaphy
