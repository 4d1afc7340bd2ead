// SPDX-License-Identifier: Apache-2.0
// novaphy-host doctor: what to send with a bug report, and what to do next.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "child_command.hpp"
#include "colours.hpp"
#include "manifest/problems.hpp"
#include "novaphy/plugin.hpp"
#include "novaphy_commit.hpp"
#include "platform/host/machine_facts.hpp"
#include "platform/process.hpp"
#include "python_probe.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// A report shall not wait for an interpreter that hangs [s].
constexpr double kPythonLimit = 5.0;

std::string variable(const char* name) {
  return platform::environment(name).value_or("");
}

/// The file that the system's loader finds for a library; tried in a child, since a driver may end the
/// process.
json find_library(const Common& common, const std::vector<std::string>& names) {
  std::string errors;
  for (const std::string& name : names) {
    platform::ChildCommand command = own_command(common);
    command.arguments = {"can-open", name};
    const platform::ChildResult result = platform::run_child(command);
    const json answer = json::parse(result.completion.value_or(""), nullptr, false);
    if (answer.is_object() && answer.value("error", "") == "") return {{"path", answer.value("path", "")}};
    if (!errors.empty()) errors += "; ";
    errors += answer.is_object() ? answer.value("error", "")
                                 : name + ": the process that opened it " + result.ending();
  }
  return {{"path", nullptr}, {"error", errors}};
}

json cuda(const Common& common, const PythonFound& python) {
  json nvrtc = json::array();
  std::error_code error;
  if (const std::string set = variable("NOVAPHY_NVRTC_PATH"); !set.empty())
    nvrtc.push_back(set + (fs::exists(set, error) ? "" : " (NOVAPHY_NVRTC_PATH, does not exist)"));
  for (const std::string& path : python.nvrtc) nvrtc.push_back(path);
  const json found = find_library(common, {"libnvrtc.so.13", "libnvrtc.so.12"});
  if (found["path"].is_string()) nvrtc.push_back(found["path"]);
  return {{"driver", find_library(common, {"libcuda.so.1"})}, {"nvrtc", nvrtc}};
}

json machine() {
  const platform::MachineFacts facts = platform::machine_facts();
  return {{"kernel", facts.kernel},
          {"glibc", facts.glibc},
          {"processor", facts.processor},
          {"vector_sets", facts.vector_sets},
          {"cores", facts.cores}};
}

json python_json(const PythonFound& python) {
  return {{"program", python.program},
          {"version", python.version},
          {"package", python.package},
          {"package_version", python.package_version},
          {"reason", python.reason}};
}

json folders() {
  json out = json::array();
  for (const auto& [purpose, path] :
       {std::pair{"cache", platform::user_cache_folder()}, std::pair{"state", platform::user_state_folder()}})
    out.push_back({{"purpose", purpose},
                   {"path", path.empty() ? std::string() : (path / "novaphy").string()},
                   {"writable", !path.empty() && platform::may_write(path / "novaphy")}});
  return out;
}

json plugins(const Runtime& runtime) {
  json modules = json::array(), searched = json::array();
  for (const ReportRow& row : runtime.report()) modules.push_back(row_json(row));
  for (const SearchPlace& place : runtime.search_places())
    searched.push_back(
        {{"path", place.path}, {"label", place.label}, {"exists", place.exists}, {"found", place.found}});
  return {{"modules", modules}, {"searched", searched}, {"notes", runtime.notes()}};
}

std::vector<std::string> next_steps(const json& facts) {
  std::vector<std::string> out;
  if (facts.contains("config_error"))
    out.push_back("The host configuration is wrong, and no plugin is planned before it is right: " +
                  facts["config_error"].get<std::string>());
  const json modules = facts.value("modules", json::array());
  if (modules.empty() && !facts.contains("config_error"))
    out.push_back("No plugin was found: look at the places that were searched, or install NovaPhy again.");
  for (const json& row : modules) {
    const std::string state = row["state"], plugin = row["plugin"], module = row["module"];
    if (state == "rejected" || state == "failed" || state == "blocked")
      out.push_back("'" + (module.empty() ? plugin : module) + "' is " + state + ": " +
                    row["reason"].get<std::string>() + ". 'novaphy-host why " +
                    (module.empty() ? plugin : module) + "' shows each step, 'novaphy-host check " + plugin +
                    "' tests the plugin.");
  }
  for (const json& name : facts.value("quarantined", json::array()))
    out.push_back("'" + name.get<std::string>() + "' is in quarantine: run 'novaphy-host check " +
                  name.get<std::string>() + "', then 'novaphy-host forgive " + name.get<std::string>() +
                  "'.");
  for (const json& folder : facts["folders"])
    if (!folder["writable"]) {
      const std::string which = "The " + folder["purpose"].get<std::string>() + " folder ",
                        path = folder["path"];
      const std::string setting = folder["purpose"] == "cache" ? "XDG_CACHE_HOME" : "XDG_STATE_HOME";
      out.push_back(path.empty() ? which + "is unknown: set HOME or " + setting + "."
                                 : which + path + " cannot be written: set " + setting +
                                       " to a folder that you may write.");
    }
  if (const std::string reason = facts["python"]["reason"]; !reason.empty())
    out.push_back("Python is not usable with this NovaPhy: " + reason + ".");
  if (out.empty())
    out.push_back("Nothing is wrong here: send this text with a report, beside the command and its output.");
  return out;
}

/// The home folder as "~", in every text of a document.
void hide_home(json& value, const std::string& home) {
  if (value.is_structured())
    for (json& inside : value) hide_home(inside, home);
  if (!value.is_string() || home.size() < 2) return;
  std::string text = value;
  for (std::size_t at = text.find(home); at != std::string::npos; at = text.find(home, at + 1)) {
    const std::size_t end = at + home.size();
    if (end == text.size() || text.find_first_of("/:;', \n", end) == end) text.replace(at, home.size(), "~");
  }
  value = text;
}

json gather(const Common& common, const std::string& python_program) {
  const PythonFound python = find_python(python_program, kPythonLimit);
  json out = {
      {"version", Runtime::version()},
      {"commit", kCommit},
      {"platform", Runtime::platform()},
      {"compiler", std::string(NOVAPHY_FINGERPRINT_COMPILER) + " (" + __VERSION__ + ")"},
      {"fingerprint", kCxxFingerprint},
      {"machine", machine()},
      {"cuda", cuda(common, python)},
      {"display", {{"DISPLAY", variable("DISPLAY")}, {"WAYLAND_DISPLAY", variable("WAYLAND_DISPLAY")}}},
      {"python", python_json(python)},
      {"environment", platform::variables_with_prefix("NOVAPHY_")},
      {"folders", folders()}};
  out["quarantined"] = json::array();
  for (const QuarantinedModule& item : Runtime::quarantined()) out["quarantined"].push_back(item.module);
  try {
    out.update(plugins(start_runtime(common)));
  } catch (const Exit& exit) {
    if (exit.code != kBadConfig) throw;
    out["config_error"] = exit.message;
  }
  out["next"] = next_steps(out);
  hide_home(out, variable("HOME"));
  return out;
}

std::string joined_words(const json& words) {
  std::string out;
  for (const json& word : words) out += (out.empty() ? "" : " ") + word.get<std::string>();
  return out.empty() ? "none" : out;
}

void line(const std::string& name, const std::string& text) {
  std::cout << fmt::format("  {:<18} {}\n", name, printable(text));
}

std::string or_none(const json& text) {
  return text.is_string() && !text.get<std::string>().empty() ? text.get<std::string>() : "none";
}

void print_machine(const json& facts) {
  std::cout << "NovaPhy\n";
  line("version", facts["version"].get<std::string>() + ", commit " + facts["commit"].get<std::string>());
  line("compiler", facts["compiler"]);
  line("fingerprint", facts["fingerprint"]);
  std::cout << "Machine\n";
  const json& machine = facts["machine"];
  line("kernel", machine["kernel"]);
  line("glibc", machine["glibc"]);
  line("processor", machine["processor"].get<std::string>() + ", " +
                        std::to_string(machine["cores"].get<int>()) + " cores");
  line("vectors", joined_words(machine["vector_sets"]));
  const json& driver = facts["cuda"]["driver"];
  line("CUDA driver",
       driver["path"].is_string() ? driver["path"].get<std::string>() : driver["error"].get<std::string>());
  line("NVRTC", joined_words(facts["cuda"]["nvrtc"]));
  line("display", "DISPLAY " + or_none(facts["display"]["DISPLAY"]) + ", WAYLAND_DISPLAY " +
                      or_none(facts["display"]["WAYLAND_DISPLAY"]));
  const json& python = facts["python"];
  line("Python", or_none(python["version"]) + " " + python["program"].get<std::string>());
  line("package", or_none(python["package"]) + " " + python["package_version"].get<std::string>());
}

void print_plugins(const json& facts) {
  const Colours colours;
  std::cout << "Searched\n";
  for (const json& place : facts.value("searched", json::array())) {
    const std::size_t count = place["found"].size();
    const std::string holds = !place["exists"] ? "does not exist"
                              : count == 1     ? "1 plugin"
                                               : std::to_string(count) + " plugins";
    line(place["label"].get<std::string>(), place["path"].get<std::string>() + ": " + holds);
  }
  std::cout << "Plugins\n";
  for (const json& row : facts.value("modules", json::array())) {
    const std::string state = row["state"], module = row["module"], reason = row["reason"];
    const bool is_good = state == "ready" || state == "loaded";
    std::cout << "  " << (module.empty() ? row["plugin"].get<std::string>() : module) << " "
              << row["version"].get<std::string>() << " "
              << (is_good ? colours.good(state) : colours.bad(state))
              << (reason.empty() ? "" : ": " + printable(reason)) << "\n";
  }
  for (const json& note : facts.value("notes", json::array()))
    std::cout << "  note: " << printable(note.get<std::string>()) << "\n";
  if (const json quarantined = facts.value("quarantined", json::array()); !quarantined.empty())
    std::cout << "Quarantine\n  " << joined_words(quarantined) << "\n";
}

void print_all(const json& facts) {
  print_machine(facts);
  print_plugins(facts);
  std::cout << "Folders\n";
  for (const json& folder : facts["folders"])
    line(folder["purpose"], or_none(folder["path"]) + (folder["writable"] ? ", writable" : ", not writable"));
  std::cout << "Environment\n";
  if (facts["environment"].empty()) std::cout << "  no variable NOVAPHY_* is set\n";
  for (const auto& [name, value] : facts["environment"].items())
    std::cout << "  " << printable(name + "=" + value.get<std::string>()) << "\n";
  std::cout << "What to do next\n";
  for (const json& step : facts["next"]) std::cout << "  " << printable(step.get<std::string>()) << "\n";
}

}  // namespace

Action add_doctor(CLI::App& app, const Common& common) {
  CLI::App* verb = app.add_subcommand("doctor", "What to send with a bug report, and what to do next");
  const auto python = std::make_shared<std::string>();
  verb->add_option("--python", *python, "The interpreter; else NOVAPHY_PYTHON, or python3 on PATH")
      ->type_name("FILE");
  return [&common, python] {
    const json facts = gather(common, *python);
    common.json ? void(std::cout << printed(facts)) : print_all(facts);
    return int{facts.contains("config_error") ? kBadConfig : kOk};
  };
}

Action add_can_open(CLI::App& app, const Common&) {
  CLI::App* verb = app.add_subcommand("can-open", "Opens a library; 'doctor' starts it")->group("");
  const auto name = std::make_shared<std::string>();
  verb->add_option("LIBRARY", *name)->required();
  return [name] {
    std::string error;
    const auto path = platform::open_by_name(*name, error);
    child_side().complete(json{{"path", path.value_or("")}, {"error", error}}.dump());
    return int{kOk};
  };
}

}  // namespace novaphy::host
