// SPDX-License-Identifier: Apache-2.0
// What the verbs of novaphy-host share: exit codes, and one function a verb that adds itself to the command
// line.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "novaphy/runtime.hpp"

namespace novaphy::host {

enum ExitCode : int { kOk = 0, kPluginFailed = 1, kUsage = 2, kBadConfig = 3, kCheckFailed = 4 };

/// What every verb understands.
struct Common {
  bool json = false, safe = false, no_lazy = false, probe = false;
  std::string config;
  std::vector<std::string> log;  ///< "debug", "vbd=debug"
  std::vector<std::string> plugins, manifests, allow_writable;
  /// The command line: provenance of a dump, and what --watch starts again.
  std::vector<std::string> command;
};

/// The runtime with the common options; a wrong host configuration ends the program with code 3,
/// a name on the command line that nobody has with code 2. `plan_only`: no
/// library is opened by the start.
Runtime& start_runtime(const Common& common, bool plan_only = true);
/// The common options as options of a runtime.
RuntimeOptions runtime_options(const Common& common);

/// Ends the program with a code; the text goes to stderr.
struct Exit {
  int code;
  std::string message;
};

/// The document as text with a last line break; bytes that are no UTF-8 (of a path) become U+FFFD.
std::string printed(const nlohmann::json& document);
/// One row of the report as `list --json` and `doctor --json` have it.
nlohmann::json row_json(const ReportRow& row);

/// A verb's work; returns the exit code.
using Action = std::function<int()>;

Action add_list(CLI::App& app, const Common& common);
Action add_why(CLI::App& app, const Common& common);
Action add_run(CLI::App& app, const Common& common);
Action add_check(CLI::App& app, const Common& common);
Action add_new_plugin(CLI::App& app, const Common& common);
Action add_doctor(CLI::App& app, const Common& common);
Action add_manifest_schema(CLI::App& app, const Common& common);
Action add_errors(CLI::App& app, const Common& common);
Action add_forgive(CLI::App& app, const Common& common);
Action add_completion(CLI::App& app, const Common& common);

// Verbs that this program starts itself with; they do not stand in the help.
Action add_check_step(CLI::App& app, const Common& common);
Action add_names(CLI::App& app, const Common& common);
Action add_can_open(CLI::App& app, const Common& common);

}  // namespace novaphy::host
