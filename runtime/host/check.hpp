// SPDX-License-Identifier: Apache-2.0
// The conformance checks C01 to C11 of a plugin. The parent runs each of them for each module in a child,
// which may crash, exit or hang.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "platform/child_process.hpp"
#include "verbs.hpp"

namespace novaphy::host {

enum class Verdict { ok, failed, skipped };

/// What came of one check, for a plugin or for one of its modules.
struct Outcome {
  Verdict verdict = Verdict::ok;
  /// What is wrong and what to do, or why it was skipped; several lines for several findings.
  std::string text;

  static Outcome failure(std::string text) { return {Verdict::failed, std::move(text)}; }
  static Outcome skip(std::string text) { return {Verdict::skipped, std::move(text)}; }
};

/// What is checked, and how.
struct CheckOptions {
  std::vector<std::string> plugins;  ///< names, manifests or folders of plugins
  std::vector<std::string> only;     ///< identifiers of checks; empty = all
  std::string python;                ///< an interpreter; empty = the one that find_python() finds
  double load_limit = 5.0;           ///< s
};

/// One line of the list of checks.
struct Check {
  const char* id;
  const char* title;
};
inline constexpr Check kChecks[] = {
    {"C01", "the manifest is valid, stamped by the build and lies in its plugin's folder"},
    {"C02", "the library is one of this machine and exports no name that may clash"},
    {"C03", "the library needs nothing that may be missing elsewhere"},
    {"C04", "it loads, and its entry function always returns the same descriptor"},
    {"C05", "it loads under a larger host and refuses one of another ABI"},
    {"C06", "loading, unloading and the end of the process leave nothing behind"},
    {"C07", "it publishes what its manifest declares, as objects of those interfaces"},
    {"C08", "what it publishes works on a small scene and refuses wrong options"},
    {"C09", "without what it requires it fails with a sentence"},
    {"C10", "its Python extension has what the manifest promises and refuses without its module"},
    {"C11", "it loads in time and writes no file outside cache and state"},
};

/// The manifest that is checked, as the parent knows it.
struct CheckedPlugin {
  std::string name, version, path;
  std::vector<std::string> modules;
  std::string nova{};  ///< another plugin, which runs the programs of forces; empty where there is none
};

/// One check of a plugin, its modules one after the other.
class CheckRunner {
 public:
  CheckRunner(const Common& common, const CheckOptions& options, CheckedPlugin plugin);
  Outcome run(const std::string& id);

 private:
  Outcome run_module(const std::string& id, const std::string& module);
  Outcome run_python(const std::string& module);
  platform::ChildResult run_step(const std::string& id, const std::string& module,
                                 const std::filesystem::path& scratch) const;

  const Common& common_;
  const CheckOptions& options_;
  CheckedPlugin plugin_;
};

// The checks themselves, as they run in a child. `module` is empty for C01.
struct StepContext {
  const Common& common;
  std::string module;
  double load_limit;
};
Outcome check_manifest(const StepContext& step);              // C01
Outcome check_library(const StepContext& step);               // C02
Outcome check_needs(const StepContext& step);                 // C03
Outcome check_entry(const StepContext& step);                 // C04
Outcome check_other_hosts(const StepContext& step);           // C05
Outcome check_leftovers(const StepContext& step);             // C06
Outcome check_published(const StepContext& step);             // C07
Outcome check_objects(const StepContext& step);               // C08
Outcome check_missing_requirements(const StepContext& step);  // C09
Outcome check_load_time(const StepContext& step);             // C11

/// The runtime of a check, planned: nothing is loaded, and what dies here is not remembered against the
/// plugin.
Runtime& plan_for_check(const StepContext& step);

/// A wrong module, or one that is not to be loaded here: thrown by the helpers below.
struct Stop {
  Outcome outcome;
};

/// The row of the module under check in a runtime that was started for it. Throws Stop when the module is not
/// built because something that it requires is missing (skipped), or cannot load (failed).
ReportRow row_to_load(const StepContext& step, Runtime& runtime);
/// Loads the module. Throws Stop: failed with the loader's line, or skipped when this machine lacks what it
/// needs. `is_np312_fine`: a module that published other things than it declares counts as loaded.
void load_module(const StepContext& step, Runtime& runtime, bool is_np312_fine = true);
/// The manifest's entry of a module, {} when nobody knows it.
nlohmann::json module_manifest(const Runtime& runtime, const std::string& module);
/// Names of the modules that a module requires, directly or not.
std::vector<std::string> required_modules(const Runtime& runtime, const std::string& module);

}  // namespace novaphy::host
