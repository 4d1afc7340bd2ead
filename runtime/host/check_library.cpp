// SPDX-License-Identifier: Apache-2.0
// C01 to C03: what can be told without loading anything.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "check.hpp"
#include "novaphy/abi.h"
#include "platform/elf_file.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Libraries that every machine of this kind has, and what a compiler adds for its sanitizers.
const std::regex kSystemLibrary(
    R"((libc|libm|libstdc\+\+|libgcc_s|libatomic|libdl|librt|libpthread|ld-linux[-\w]*|lib[alt]san|libubsan)\.so(\.\d+)*)");
const std::regex kRuntimeLibrary(R"(libnovaphy_runtime\.so(\.\d+)*)");

void add_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

Outcome outcome_of(std::string findings) {
  return findings.empty() ? Outcome{} : Outcome::failure(std::move(findings));
}

platform::ElfFile read_library(const ReportRow& row) {
  const std::string name = fs::path(row.library).filename().string();
  std::error_code error;
  if (!fs::exists(row.library, error))
    throw Stop{Outcome::failure("NP301 library " + name + " not found; was the plugin built?")};
  try {
    return platform::read_elf(row.library);
  } catch (const platform::ElfError& wrong) {
    const std::string remedy =
        wrong.remedy.empty() ? "build the plugin on and for this machine" : wrong.remedy;
    throw Stop{Outcome::failure(name + " " + wrong.text + "; " + remedy)};
  }
}

/// The row of a module whose library shall be read; a module that was left out of the build is skipped.
ReportRow row_to_read(const StepContext& step, const Runtime& runtime) {
  std::error_code error;
  for (const ReportRow& row : runtime.info(step.module)) {
    if (row.module != step.module) continue;
    if (row.state == PluginState::blocked && !fs::exists(row.library, error))
      throw Stop{Outcome::skip("not built: " + row.reason)};
    if (row.state == PluginState::skipped) throw Stop{Outcome::skip(row.reason)};
    return row;
  }
  throw Stop{Outcome::failure("the manifest has no module of this name any more")};
}

/// The outermost namespace of a mangled name: "novaphy" of "_ZN7novaphy4nova6TensorC1Ev"; empty for a name
/// without.
std::string outer_namespace(const std::string& mangled) {
  static const std::regex pattern(R"(^_Z(?:T[VIST]|GV|Th?n?\d+_|Tv\d+_n?\d+_)?N[rVK]*[RO]?(\d+))");
  std::smatch match;
  if (!std::regex_search(mangled, match, pattern)) return {};
  return match.suffix().str().substr(0, std::stoul(match[1].str()));
}

}  // namespace

Outcome check_manifest(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const fs::path manifest = step.common.manifests.front();
  std::string findings;
  for (const ReportRow& row : runtime.report()) {
    if (row.path != manifest) continue;
    for (const PluginProblem& problem : row.problems)
      if (problem.code.starts_with("NP1") && findings.find(problem.line()) == std::string::npos)
        add_line(findings, problem.line());
  }
  return outcome_of(std::move(findings));
}

Outcome check_library(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const ReportRow row = row_to_read(step, runtime);
  const platform::ElfFile library = read_library(row);
  std::string findings;
  bool has_entry = false;
  for (const platform::ElfExport& symbol : library.exports) {
    if (symbol.name == NOVAPHY_PLUGIN_ENTRY) has_entry = true;
    if (symbol.is_weak || symbol.name == NOVAPHY_PLUGIN_ENTRY || !outer_namespace(symbol.name).empty())
      continue;
    add_line(findings, "exports '" + symbol.name +
                           "', which another library may export too; hide it (static, or " +
                           "-fvisibility=hidden), or put it into a namespace");
  }
  if (!has_entry)
    add_line(findings,
             "NP303 does not export " NOVAPHY_PLUGIN_ENTRY "; use NOVAPHY_PLUGIN(...) in one source file");
  return outcome_of(std::move(findings));
}

Outcome check_needs(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const ReportRow row = row_to_read(step, runtime);
  const platform::ElfFile library = read_library(row);
  std::set<std::string> allowed;
  for (const std::string& module : required_modules(runtime, step.module))
    for (const ReportRow& required : runtime.info(module))
      if (required.module == module) allowed.insert(fs::path(required.library).filename());
  const json manifest = json::parse(runtime.manifest_json(row.plugin), nullptr, false);
  for (const json& place : {manifest, module_manifest(runtime, step.module)})
    for (const json& name : place.value("x-needs", json::array()))
      if (name.is_string()) allowed.insert(name.get<std::string>());

  std::string findings;
  for (const std::string& name : library.needed)
    if (!std::regex_match(name, kSystemLibrary) && !std::regex_match(name, kRuntimeLibrary) &&
        !allowed.contains(name))
      add_line(findings, "needs " + name +
                             ", which is neither the system's nor the runtime's nor a module that it " +
                             "requires; link it statically, or list it in the manifest's x-needs");
  for (const std::string& path : library.search_paths)
    if (!path.empty() && !path.starts_with("$ORIGIN") && !path.starts_with("${ORIGIN}"))
      add_line(findings,
               "searches " + path + " for libraries, which lies elsewhere on another machine; use $ORIGIN");
  return outcome_of(std::move(findings));
}

}  // namespace novaphy::host
