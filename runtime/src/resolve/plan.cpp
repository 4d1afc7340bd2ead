// SPDX-License-Identifier: Apache-2.0
#include "resolve/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "manifest/nearest_name.hpp"
#include "resolve/load_order.hpp"

namespace novaphy {
namespace {

std::string version_text(const Version& version) {
  return std::to_string(version.parts[0]) + "." + std::to_string(version.parts[1]) + "." +
         std::to_string(version.parts[2]);
}

std::string abi_text(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

bool is_usable(const PlannedModule& row) {
  return row.state == PluginState::found || row.state == PluginState::ready;
}

constexpr std::string_view kLink = "requires '";

/// The end of a chain "requires 'a', which requires 'b', which ...": "b', which ...".
std::string root_of(const PluginProblem& problem) {
  const std::size_t at = problem.text.rfind(kLink);
  return at == std::string::npos ? problem.text : problem.text.substr(at + kLink.size());
}

int links_of(const PluginProblem& problem) {
  int count = 0;
  for (std::size_t at = 0; (at = problem.text.find(kLink, at)) != std::string::npos; at += kLink.size())
    ++count;
  return count;
}

/// Where several chains lead to one cause, the shortest says it all; shorter ones come first.
void keep_shortest_chains(std::vector<PluginProblem>& problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const auto& a, const auto& b) { return links_of(a) < links_of(b); });
  std::set<std::string> roots;
  std::erase_if(problems,
                [&](const PluginProblem& problem) { return !roots.insert(root_of(problem)).second; });
}

class Planner {
 public:
  Planner(const std::vector<ManifestFile>& files, const HostConfig& host, const Facts& facts)
      : files_(files), host_(host), facts_(facts) {}

  Plan run() {
    make_rows();
    select();
    for (PlannedModule& row : rows_)
      if (row.state == PluginState::found) check_conflicts(row);
    check_provided_twice();
    for (std::size_t i = 0; i < rows_.size(); ++i) visit(i);
    Plan plan;
    for (PlannedModule& row : rows_)
      if (row.state == PluginState::found) row.state = PluginState::ready;
    plan.order = load_order(rows_, files_);
    plan.rows = std::move(rows_);
    return plan;
  }

 private:
  const ManifestFile& file(const PlannedModule& row) const { return files_[row.file]; }
  const ModuleManifest& module(const PlannedModule& row) const {
    return file(row).manifest.modules[*row.module];
  }
  std::string pointer(const PlannedModule& row) const { return "/modules/" + std::to_string(*row.module); }

  void stop(PlannedModule& row, PluginState state, const char* code, std::string at, std::string text) {
    row.state = state;
    row.problems.push_back({code, file(row).path.string(), std::move(at), std::move(text)});
  }
  void block(PlannedModule& row, const char* code, std::string text) {
    stop(row, PluginState::blocked, code, pointer(row), std::move(text));
  }

  // rows and what each manifest says by itself

  void make_rows() {
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto [at, is_first] = first.emplace(files_[i].name, i);
      if (!is_first)
        add_shadowed(i, files_[at->second]);
      else if (!files_[i].problems.empty())
        add_rejected(i);
      else
        for (std::size_t m = 0; m < files_[i].manifest.modules.size(); ++m) add_module(i, m);
    }
  }

  void add_shadowed(std::size_t index, const ManifestFile& earlier) {
    PlannedModule row{index, std::nullopt, PluginState::found, {}, {}, {}, files_[index].notes};
    stop(row, PluginState::skipped, "NP210", "", "shadowed by " + earlier.path.string() + ", found earlier");
    rows_.push_back(std::move(row));
  }

  void add_rejected(std::size_t index) {
    rows_.push_back(
        {index, std::nullopt, PluginState::rejected, files_[index].problems, {}, {}, files_[index].notes});
  }

  void add_module(std::size_t index, std::size_t module_index) {
    PlannedModule row{index, module_index, PluginState::found, {}, {}, {}, files_[index].notes};
    const Manifest& manifest = files_[index].manifest;
    const ModuleManifest& module = manifest.modules[module_index];
    if (const auto [at, is_first] = by_name_.emplace(module.name, rows_.size()); !is_first)
      stop(row, PluginState::rejected, "NP211", pointer(row) + "/name",
           "module '" + module.name + "' already belongs to plugin '" + file(rows_[at->second]).name + "'");
    check_platform(row, manifest);
    check_abi(row, module);
    rows_.push_back(std::move(row));
  }

  void check_platform(PlannedModule& row, const Manifest& manifest) {
    const auto& platforms = manifest.platforms;
    if (!platforms.empty() &&
        std::find(platforms.begin(), platforms.end(), facts_.platform) == platforms.end())
      stop(row, PluginState::skipped, "NP201", "",
           "is for " + joined(platforms) + ", this is " + facts_.platform);
    if (!manifest.runtime.contains(facts_.runtime))
      stop(row, PluginState::skipped, "NP202", "",
           "needs NovaPhy " + manifest.runtime.text() + ", this is " + version_text(facts_.runtime));
  }

  void check_abi(PlannedModule& row, const ModuleManifest& module) {
    if (module.abi_major != facts_.abi_major)
      stop(row, PluginState::rejected, "NP304", pointer(row),
           "built for plugin ABI " + std::to_string(module.abi_major) + ", this runtime speaks " +
               std::to_string(facts_.abi_major));
    else if (module.abi_minor > facts_.abi_minor)
      stop(row, PluginState::rejected, "NP306", pointer(row),
           "needs plugin ABI " + abi_text(module.abi_major, module.abi_minor) + ", this runtime has " +
               abi_text(facts_.abi_major, facts_.abi_minor));
  }

  // what the host wants

  bool is_named(const PlannedModule& row, const std::string& name) const {
    return file(row).name == name || (row.module && module(row).name == name);
  }

  void select() {
    for (PlannedModule& row : rows_)
      for (const HostEntry& entry : host_.disable)
        if (row.state == PluginState::found && is_named(row, entry.name))
          stop(row, PluginState::disabled, "NP206", pointer(row), "is disabled by " + entry.where());
    std::set<std::size_t> wanted;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (is_root(rows_[i])) want(i, wanted);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      PlannedModule& row = rows_[i];
      if (row.state != PluginState::found || wanted.contains(i)) continue;
      stop(row, PluginState::disabled, "NP206", pointer(row),
           host_.has_list ? "is not in the list " + host_.list_where
                          : "is disabled by " + file(row).path.string() + "#/enabled");
    }
  }

  bool is_root(const PlannedModule& row) const {
    if (!row.module) return false;
    if (!host_.has_list) return file(row).manifest.enabled;
    return std::any_of(host_.plugins.begin(), host_.plugins.end(),
                       [&](const HostEntry& entry) { return is_named(row, entry.name); });
  }

  /// The row and all that it requires.
  void want(std::size_t index, std::set<std::size_t>& wanted) const {
    if (!rows_[index].module || !wanted.insert(index).second) return;
    for (const Dependency& dependency : module(rows_[index]).required)
      if (const auto at = by_name_.find(dependency.name); at != by_name_.end()) want(at->second, wanted);
  }

  // what modules say of each other

  void check_conflicts(PlannedModule& row) {
    for (const std::string& name : module(row).conflicts) {
      const auto at = by_name_.find(name);
      if (at == by_name_.end() || &rows_[at->second] == &row) continue;
      const PluginState other = rows_[at->second].state;
      if (other == PluginState::found || other == PluginState::blocked)
        block(row, "NP209", "conflicts with '" + name + "', which is enabled too; disable one");
    }
  }

  void check_provided_twice() {
    std::map<std::pair<std::string, std::string>, std::string> owners;
    for (PlannedModule& row : rows_) {
      if (row.state != PluginState::found) continue;
      const auto& provides = module(row).provides;
      for (std::size_t i = 0; i < provides.size(); ++i) {
        const auto [at, is_first] =
            owners.emplace(std::pair(provides[i].interface_id, provides[i].name), module(row).name);
        if (!is_first)
          stop(row, PluginState::blocked, "NP211", pointer(row) + "/provides/" + std::to_string(i),
               "provides " + provides[i].interface_id + " '" + provides[i].name + "', already provided by '" +
                   at->second + "'");
      }
    }
  }

  /// Checks what a row requires, those first.
  void visit(std::size_t index) {
    if (!rows_[index].module || rows_[index].state != PluginState::found || !visited_.insert(index).second)
      return;
    path_.push_back(index);
    for (const Dependency& dependency : module(rows_[index]).required) check_dependency(index, dependency);
    keep_shortest_chains(rows_[index].problems);
    check_library(rows_[index]);
    for (const Dependency& dependency : module(rows_[index]).optional) add_optional(index, dependency);
    path_.pop_back();
  }

  /// After what it requires: a module that was not built because of that has the better reason there.
  void check_library(PlannedModule& row) {
    const ModuleManifest& manifest = module(row);
    if (row.state == PluginState::found && file(row).missing_libraries.contains(manifest.name))
      stop(row, PluginState::failed, "NP301", pointer(row),
           "library " + manifest.library + " not found; was the plugin built?");
  }

  void check_dependency(std::size_t index, const Dependency& dependency) {
    const std::string wanted = "requires '" + dependency.name + "'" +
                               (dependency.range.is_any() ? "" : " " + dependency.range.text());
    const auto at = by_name_.find(dependency.name);
    if (at == by_name_.end()) {
      missing(rows_[index], dependency.name, wanted);
      return;
    }
    const std::size_t other = at->second;
    if (const auto begin = std::find(path_.begin(), path_.end(), other); begin != path_.end()) {
      close_cycle(begin);
      return;
    }
    visit(other);
    PlannedModule& row = rows_[index];
    const PlannedModule& found = rows_[other];
    if (!dependency.range.contains(file(found).manifest.version))
      block(row, "NP204",
            wanted + ", found " + file(found).manifest.version_text + " at " + file(found).path.string());
    else if (module(found).phase > module(row).phase)
      block(row, "NP208",
            "phase '" + std::string(to_string(module(row).phase)) + "' cannot require '" + dependency.name +
                "' of phase '" + to_string(module(found).phase) + "'");
    else if (is_usable(found))
      row.required.push_back(other);
    else if (!in_cycle_.contains(index))
      add_blocked(row, dependency.name, found);
  }

  void missing(PlannedModule& row, const std::string& name, const std::string& wanted) {
    // a manifest of that name that is refused says more than "not found"
    for (const PlannedModule& other : rows_) {
      const auto& names = file(other).module_names;
      const bool is_it =
          file(other).name == name || std::find(names.begin(), names.end(), name) != names.end();
      if (!other.module && other.state == PluginState::rejected && is_it)
        return add_blocked(row, name, other);
    }
    std::vector<std::string> known;
    for (const auto& [module, index] : by_name_) known.push_back(module);
    // 'vbd_cuda' is not 'vbd_diff' misspelt
    std::string nearest = did_you_mean(name, known, 2);
    for (const PlannedModule& other : rows_)  // a plugin's name where a module's is wanted
      if (other.module && file(other).name == name && other.state != PluginState::skipped) {
        nearest = ": it is a plugin; require a module of it: " + joined(file(other).module_names) + ".";
        break;
      }
    block(row, "NP203",
          wanted + ", which was not found" + (nearest.empty() ? "; searched: " : nearest + " Searched: ") +
              joined(facts_.searched));
  }

  void add_blocked(PlannedModule& row, const std::string& name, const PlannedModule& other) {
    row.state = PluginState::blocked;
    row.problems.push_back(blocked_by(file(row).path.string(), pointer(row), name, other));
  }

  void close_cycle(std::vector<std::size_t>::iterator begin) {
    std::string names;
    for (auto at = begin; at != path_.end(); ++at) names += module(rows_[*at]).name + " -> ";
    names += module(rows_[*begin]).name;
    for (auto at = begin; at != path_.end(); ++at)
      if (in_cycle_.insert(*at).second) block(rows_[*at], "NP207", "dependency cycle: " + names);
  }

  void add_optional(std::size_t index, const Dependency& dependency) {
    const auto at = by_name_.find(dependency.name);
    if (at == by_name_.end()) return;
    const std::size_t other = at->second;
    if (std::find(path_.begin(), path_.end(), other) != path_.end()) return;  // it requires this one
    visit(other);
    PlannedModule& row = rows_[index];
    if (!is_usable(rows_[other]) || module(rows_[other]).phase > module(row).phase) return;
    if (dependency.range.contains(file(rows_[other]).manifest.version))
      row.optional.push_back(other);
    else
      row.notes.push_back("would use '" + dependency.name + "' " + dependency.range.text() + ", found " +
                          file(rows_[other]).manifest.version_text);
  }

  const std::vector<ManifestFile>& files_;
  const HostConfig& host_;
  const Facts& facts_;
  std::vector<PlannedModule> rows_;
  std::map<std::string, std::size_t> by_name_;  // module name -> row
  std::set<std::size_t> visited_, in_cycle_;
  std::vector<std::size_t> path_;  // rows whose dependencies are being checked
};

}  // namespace

std::string PlannedModule::clause() const {
  if (problems.empty()) return std::string("is ") + to_string(state);
  const PluginProblem& first = problems.front();
  if (state == PluginState::rejected || state == PluginState::failed) return "failed: " + first.line();
  if (state == PluginState::unavailable) return "is " + first.text;
  if (first.code == "NP207") return "is in a " + first.text;
  return first.text;
}

std::string PlannedModule::reason() const {
  std::vector<std::string> texts;
  for (const PluginProblem& problem : problems) {
    const bool is_of_the_file =
        state == PluginState::rejected && problem.code.starts_with("NP1") && !problem.pointer.empty();
    texts.push_back(is_of_the_file ? "#" + problem.pointer + ": " + problem.text : problem.text);
  }
  return joined(texts, "; ");
}

PluginProblem blocked_by(const std::string& path, const std::string& pointer, const std::string& name,
                         const PlannedModule& other) {
  // a chain carries the code of its root: NP206 where somebody disabled the last one, NP203 where it is
  // missing
  const bool is_chain = other.state == PluginState::blocked || other.state == PluginState::disabled;
  const std::string code = is_chain && !other.problems.empty() ? other.problems.front().code : "NP205";
  return {code, path, pointer, "requires '" + name + "', which " + other.clause()};
}

std::string state_and_reason(PluginState state, const std::string& reason) {
  if (reason.empty()) return to_string(state);
  if (state == PluginState::disabled && reason.starts_with("is disabled ")) return reason.substr(3);
  if (state == PluginState::unavailable) return reason;  // "unavailable: ..." as the problem says it
  return std::string(to_string(state)) + ": " + reason;
}

Plan make_plan(const std::vector<ManifestFile>& files, const HostConfig& host, const Facts& facts) {
  return Planner(files, host, facts).run();
}

}  // namespace novaphy
