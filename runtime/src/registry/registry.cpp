// SPDX-License-Identifier: Apache-2.0
// Discovery, plan and lazy loading. What the registry answers lies in queries.cpp and why.cpp.
#include "registry/registry.hpp"

#include <algorithm>
#include <optional>

#include "load/checked_library.hpp"
#include "load/probe.hpp"
#include "manifest/problems.hpp"
#include "novaphy/abi.h"
#include "novaphy/log.hpp"
#include "novaphy/task_pool.hpp"
#include "platform/files.hpp"
#include "platform/process.hpp"

namespace novaphy {
namespace {

namespace fs = std::filesystem;

void log_refused(const ManifestFile& file) {
  for (const PluginProblem& problem : file.problems) log(LogLevel::warn, problem.line());
}

}  // namespace

Runtime::Registry::Registry(const RuntimeOptions& options)
    : options_(options), journal_(options.journal ? LoadJournal(journal_folder()) : LoadJournal()) {
  if (const std::string two = two_runtimes(); !two.empty()) throw Error("NP314 " + two);
  std::vector<PluginProblem> problems;
  host_ = read_host_config(options_, problems);
  if (problems.empty()) {
    discovery_ = discover(options_, host_.paths);
    check_host_config(host_, discovery_.files, problems);
  }
  if (!problems.empty()) throw Error(ErrorKind::parse, joined_lines(problems));

  facts_ = {
      *parse_version(Runtime::version()), platform::machine(), NOVAPHY_ABI_MAJOR, NOVAPHY_ABI_MINOR, {}};
  for (const SearchPlace& place : discovery_.places) facts_.searched.push_back(place.path);
  Plan plan = make_plan(discovery_.files, host_, facts_);
  rows_ = std::move(plan.rows);
  order_ = std::move(plan.order);
  hosts_.resize(rows_.size());
  published_.add({{{ITaskPool::kId, "shared"}, &task_pool()}});
  for (const ManifestFile& file : discovery_.files) log_refused(file);
  if (options_.journal) quarantine();
}

void Runtime::Registry::load_startup() {
  if (options_.plan_only) return;
  const Lock lock(mutex_);
  for (const std::size_t index : order_)
    if (options_.no_lazy || module(rows_[index]).phase == Phase::device ||
        module(rows_[index]).load_at_startup)
      load_row(index);
}

void* Runtime::Registry::find(std::string_view interface_id, std::string_view name) {
  const Key key{interface_id, name};
  // without the lock, which another thread's load may hold for long
  if (void* object = published_.find(key)) return object;
  const Lock lock(mutex_);
  if (void* object = published_.find(key)) return object;
  if (stopped_)
    fail(ErrorKind::plugin_not_available, "no ", interface_id, " '", name, "': the runtime has stopped");
  const PlannedModule* refused = nullptr;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].module) continue;
    const auto& provides = module(rows_[i]).provides;
    const auto is_it = [&](const Provides& item) {
      return item.interface_id == interface_id && item.name == name;
    };
    if (std::none_of(provides.begin(), provides.end(), is_it)) continue;
    if (load_row(i)) return published_.find(key);
    // when several modules declare the same name, the first is the one that the plan wanted
    if (refused == nullptr) refused = &rows_[i];
  }
  if (refused == nullptr) throw Error(ErrorKind::plugin_not_available, unknown_interface(interface_id, name));
  fail(ErrorKind::plugin_not_available, "no ", interface_id, " '", name, "': ", not_loaded(*refused));
}

void Runtime::Registry::load(std::string_view name) {
  const Lock lock(mutex_);
  const std::vector<std::size_t> rows = rows_named(name);
  if (rows.empty()) throw Error(ErrorKind::plugin_not_available, unknown_name(name));
  bool any = false;
  for (const std::size_t index : rows) any = load_row(index) || any;
  if (!any) throw Error(ErrorKind::plugin_not_available, not_loaded(rows_[rows.front()]));
}

void Runtime::Registry::require(std::string_view name, std::string_view range_text) {
  const std::optional<VersionRange> range = parse_range(range_text);
  NOVAPHY_REQUIRE(range, ErrorKind::value, "require: '", range_text,
                  "' is no range of versions: want comparators such as '>=0.1 <0.2', or '*'");
  const Lock lock(mutex_);
  for (const std::size_t index : rows_named(name)) {
    const ManifestFile& found = file(rows_[index]);
    if (!rows_[index].module || range->contains(found.manifest.version)) continue;
    fail(ErrorKind::plugin_not_available, "plugin '", found.name, "' is of version ",
         found.manifest.version_text, ", and '", range->text(),
         "' is wanted; install another release of it (this one is ", found.path.string(), ")");
  }
  load(name);
}

void Runtime::Registry::require_listed() {
  const Lock lock(mutex_);
  for (const HostEntry& entry : host_.plugins) {
    const std::vector<std::size_t> rows = rows_named(entry.name);
    bool any = false;
    for (const std::size_t index : rows) any = load_row(index) || any;
    if (any) continue;
    std::string line = rows.empty() ? unknown_name(entry.name) : not_loaded(rows_[rows.front()]);
    if (!rows.empty() && !rows_[rows.front()].problems.empty())
      line = rows_[rows.front()].problems.front().line();
    if (entry.required)
      fail(ErrorKind::plugin_not_available, "NP407 ", entry.where(), ": required plugin '", entry.name,
           "' failed:\n", line);
    log(LogLevel::info, "plugin '" + entry.name + "' is not required and does not load: " + line);
  }
}

bool Runtime::Registry::load_row(std::size_t index) {
  if (rows_[index].state == PluginState::loaded) return true;
  if (rows_[index].state != PluginState::ready || stopped_) return false;
  for (const std::size_t required : rows_[index].required) {
    if (load_row(required)) continue;
    // a module that asks, while it loads, for one that requires it gets no answer, and may ask again
    // afterwards
    if (rows_[required].state != PluginState::loading) block_dependants(required);
    return false;
  }
  for (const std::size_t optional : rows_[index].optional) load_row(optional);
  if (rows_[index].state == PluginState::loaded) return true;  // an optional module has asked for this one
  rows_[index].state = PluginState::loading;
  try {
    load_library(index);
  } catch (const LoadFailure& failure) {
    fail_row(index, failure);
  } catch (const std::exception& error) {
    fail_row(index, {"NP302", std::string("cannot be loaded: ") + error.what()});
  }
  return rows_[index].state == PluginState::loaded;
}

void Runtime::Registry::load_library(std::size_t index) {
  PlannedModule& row = rows_[index];
  const ModuleManifest& manifest = module(row);
  const auto pin = host_.pins.find(manifest.name);
  const CheckedLibrary library(file(row).path.parent_path(), manifest.library, options_.allow_writable,
                               pin == host_.pins.end() ? nullptr : &pin->second);
  std::optional<JournalEntry> entry;
  std::optional<StartedThreads> threads;
  if (is_third_party(library.path())) {
    if (options_.probe) probe_module(options_, file(row).name, manifest.name);
    entry.emplace(journal_, file(row).name, manifest.name, library.path());
    threads.emplace();
  }
  const auto call = foreign_call(row, "loaded");
  const novaphy_plugin* plugin =
      open_module(library, {manifest.name, file(row).manifest.version_text}, row.notes);
  if (const std::string two = two_runtimes(); !two.empty()) throw LoadFailure{"NP314", two};

  std::vector<Key> declared;
  for (const Provides& item : manifest.provides) declared.emplace_back(item.interface_id, item.name);
  hosts_[index] = &ModuleHost::of(library.path(), manifest.name, file(row).path.parent_path().string());
  const auto find_for = [this](std::string_view interface_id, std::string_view name) {
    return find(interface_id, name);
  };
  PublishedObjects::Map objects;
  for (const Published& item :
       hosts_[index]->load(plugin, plugin_options(host_, file(row).manifest).dump(), find_for, declared))
    objects[{item.interface_id, item.name}] = item.object;
  published_.add(objects);
  note_threads(index, threads);
  row.state = PluginState::loaded;
  loaded_.push_back(index);
  log(LogLevel::info, "loaded module '" + manifest.name + "' from " + library.path().string());
}

void Runtime::Registry::fail_row(std::size_t index, const LoadFailure& failure) {
  PlannedModule& row = rows_[index];
  const bool is_unavailable = failure.code == "NP311";
  row.state = is_unavailable ? PluginState::unavailable : PluginState::failed;
  row.problems.push_back({failure.code, file(row).path.string(), pointer(row), printable(failure.text)});
  if (hosts_[index]) unload(index);  // a module that published the wrong things has begun to work
  log(is_unavailable ? LogLevel::info : LogLevel::warn, row.problems.back().line());
  block_dependants(index);
}

void Runtime::Registry::block_dependants(std::size_t index) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    PlannedModule& row = rows_[i];
    if (row.state != PluginState::ready ||
        std::find(row.required.begin(), row.required.end(), index) == row.required.end())
      continue;
    row.state = PluginState::blocked;
    row.problems.push_back(
        blocked_by(file(row).path.string(), pointer(row), module(rows_[index]).name, rows_[index]));
    block_dependants(i);
  }
}

}  // namespace novaphy
