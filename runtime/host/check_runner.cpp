// SPDX-License-Identifier: Apache-2.0
// Runs one check of a plugin in child processes and turns how they ended into an outcome.
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "check.hpp"
#include "child_command.hpp"
#include "platform/files.hpp"
#include "platform/host/scratch_folder.hpp"
#include "platform/process.hpp"
#include "python_probe.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;

/// A child that hangs is ended after this many times the limit for loading.
constexpr double kPatience = 6.0;
/// C08 steps a scene and C10 starts Python, which takes longer than a load.
constexpr double kPatienceForWork = 24.0;

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 300;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// Files below a home folder, apart from those that may be written there.
std::map<fs::path, fs::file_time_type> files_outside_cache(const fs::path& scratch) {
  std::map<fs::path, fs::file_time_type> out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(scratch, error), end; !error && at != end; at.increment(error)) {
    const fs::path below = at->path().lexically_relative(scratch);
    if (below == "cache" || below == "state")
      at.disable_recursion_pending();
    else if (!at->is_directory(error))
      out[below] = at->last_write_time(error);
  }
  return out;
}

std::map<fs::path, fs::file_time_type> files_of_plugin(const fs::path& folder) {
  std::map<fs::path, fs::file_time_type> out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (!at->is_directory(error)) out[at->path()] = at->last_write_time(error);
  return out;
}

/// "scratch" of the children: a home that may not be written, with the folders that may.
void make_home(const fs::path& scratch) {
  for (const char* name : {"home", "cache", "state", "temporary"}) fs::create_directory(scratch / name);
  fs::permissions(scratch / "home", fs::perms::owner_read | fs::perms::owner_exec);
}

Outcome from_child(const platform::ChildResult& result, const std::string& id) {
  if (!result.start_error.empty())
    return Outcome::failure("novaphy-host cannot start itself: " + result.start_error);
  // what the check had to say is lost when the process dies before, and is not all when it dies afterwards
  const bool is_clean = result.completion && result.exit_code == 0;
  if (!is_clean) {
    const bool at_exit = result.completion.has_value();
    std::string text =
        std::string(at_exit ? "the process, when it ended after the check, " : "the process ") +
        result.ending();
    if (const std::string words = result.last_words(); !words.empty()) text += "; it said: " + words;
    return Outcome::failure(std::move(text));
  }
  const json said = json::parse(*result.completion, nullptr, false);
  if (!said.is_object()) return Outcome::failure("the process ended without an answer");
  Outcome out{static_cast<Verdict>(said.value("verdict", 1)), said.value("text", std::string())};
  if (id == "C06" && out.verdict == Verdict::ok && !result.output.empty())
    return Outcome::failure("it wrote to stdout: '" + shortened(result.output) +
                            "'; use PluginContext::log, stdout belongs to the program");
  return out;
}

}  // namespace

CheckRunner::CheckRunner(const Common& common, const CheckOptions& options, CheckedPlugin plugin)
    : common_(common), options_(options), plugin_(std::move(plugin)) {}

Outcome CheckRunner::run(const std::string& id) {
  if (id == "C01" || plugin_.modules.empty()) return run_module(id, "");
  Outcome all;
  std::string skipped;
  std::size_t skips = 0;
  for (const std::string& module : plugin_.modules) {
    const Outcome one = id == "C10" ? run_python(module) : run_module(id, module);
    const std::string line = "module '" + module + "': " + one.text;
    if (one.verdict == Verdict::failed) {
      all.verdict = Verdict::failed;
      all.text += (all.text.empty() ? "" : "\n") + line;
    } else if (one.verdict == Verdict::skipped) {
      ++skips;
      skipped += (skipped.empty() ? "" : "; ") + line;
    }
  }
  if (all.verdict == Verdict::ok && skips == plugin_.modules.size()) return Outcome::skip(skipped);
  if (all.verdict == Verdict::ok && skips > 0 && id != "C10" && id != "C08" && id != "C09")
    all.text = "skipped: " + skipped;
  return all;
}

platform::ChildResult CheckRunner::run_step(const std::string& id, const std::string& module,
                                            const fs::path& scratch) const {
  Common common = common_;
  common.json = common.probe = common.no_lazy = false;
  common.manifests.insert(common.manifests.begin(), plugin_.path);
  common.plugins = {plugin_.name};
  if (id == "C08" && !plugin_.nova.empty()) common.plugins.push_back(plugin_.nova);
  platform::ChildCommand command = own_command(common);
  for (const std::string& argument :
       {std::string("check-step"), id, module, std::to_string(options_.load_limit)})
    command.arguments.push_back(argument);
  command.limit = Milliseconds(
      static_cast<long>(1e3 * options_.load_limit * (id == "C08" ? kPatienceForWork : kPatience)));
  // a plugin under check shall not reach the user's own quarantine, cache or home
  command.environment = {{"XDG_STATE_HOME", (scratch / "state").string()},
                         {"XDG_CACHE_HOME", (scratch / "cache").string()},
                         {"XDG_DATA_HOME", platform::user_data_folder().string()},
                         {"TMPDIR", (scratch / "temporary").string()},
                         {"HOME", (scratch / "home").string()}};
  return platform::run_child(command);
}

Outcome CheckRunner::run_module(const std::string& id, const std::string& module) {
  const platform::ScratchFolder scratch;
  make_home(scratch.path());
  const fs::path folder = fs::path(plugin_.path).parent_path();
  const auto before = files_of_plugin(folder);
  Outcome out = from_child(run_step(id, module, scratch.path()), id);
  if (id != "C11" || out.verdict != Verdict::ok) return out;
  for (const auto& [path, time] : files_outside_cache(scratch.path()))
    return Outcome::failure("it wrote " + path.string() +
                            " among the user's folders; write below the cache or state folder");
  for (const auto& [path, time] : files_of_plugin(folder))
    if (const auto known = before.find(path); known == before.end() || known->second != time)
      return Outcome::failure("it wrote " + path.string() +
                              " into its own folder; write below XDG_CACHE_HOME or XDG_STATE_HOME");
  return out;
}

Outcome CheckRunner::run_python(const std::string& module) {
  // the manifest is valid here: without C01 this check is not reached
  const platform::FileText text = platform::read_file(plugin_.path, 1 << 20);
  const json manifest = json::parse(text.text, nullptr, false);
  json python;
  for (const json& entry : manifest.value("modules", json::array()))
    if (entry.value("name", "") == module && entry.contains("python")) python = entry["python"];
  if (python.is_null()) return Outcome::skip("no Python extension");
  const PythonFound found = find_python(options_.python, kPatienceForWork * options_.load_limit);
  if (found.package.empty()) return Outcome::skip(found.reason);
  for (const char* mode : {"refuses", "imports"}) {
    const json question = {{"mode", mode},
                           {"plugin", plugin_.name},
                           {"module", module},
                           {"folder", fs::path(plugin_.path).parent_path().string()},
                           {"extension", python.value("module", "")},
                           {"exports", python.value("exports", json::object())},
                           {"config", common_.config},
                           {"allow_writable", common_.allow_writable},
                           {"manifests", common_.manifests}};
    const Outcome one = ask_python_about_extension(found, question, kPatienceForWork * options_.load_limit);
    if (one.verdict != Verdict::ok) return one;
  }
  return {};
}

}  // namespace novaphy::host
