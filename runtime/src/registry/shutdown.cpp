// SPDX-License-Identifier: Apache-2.0
// The end of a runtime: modules stop in reverse order, and what outlives them is named.
#include <algorithm>

#include "core/live_objects.hpp"
#include "manifest/problems.hpp"
#include "novaphy/log.hpp"
#include "registry/registry.hpp"

namespace novaphy {
namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Empties it together with what it has reserved.
template <class Value>
void give_back(Value& value) {
  value = Value();
}

}  // namespace

void Runtime::Registry::stop() {
  const Lock lock(mutex_);
  stopped_ = true;  // nothing loads from here on: a module that unloads finds what is still loaded
  std::vector<std::size_t> unloaded;
  while (!loaded_.empty()) {
    const std::size_t index = loaded_.back();
    loaded_.pop_back();
    unloaded.push_back(index);
    const std::string error = unload(index);
    if (!error.empty()) log(LogLevel::error, printable(row_name(rows_[index]) + ": " + error));
    std::vector<Key> gone;
    for (const Provides& item : module(rows_[index]).provides) gone.push_back({item.interface_id, item.name});
    published_.remove(gone);
    rows_[index].state = PluginState::stopped;
    name_threads_left(index);
  }
  published_.clear();
  name_objects_left(unloaded);
}

std::string Runtime::Registry::unload(std::size_t index) {
  const auto call = foreign_call(rows_[index], "unloaded");
  return hosts_[index]->unload();
}

void Runtime::Registry::retire() {
  const Lock lock(mutex_);
  give_back(rows_);
  give_back(order_);
  give_back(hosts_);
  give_back(threads_);
  give_back(discovery_);
  give_back(facts_);
  give_back(host_);
  give_back(options_);
  published_.release();
}

void Runtime::Registry::note_threads(std::size_t index, const std::optional<StartedThreads>& threads) {
  if (!threads) return;
  if (auto begun = threads->since(); !begun.empty()) threads_[index] = std::move(begun);
}

void Runtime::Registry::name_threads_left(std::size_t index) const {
  const auto at = threads_.find(index);
  if (at == threads_.end()) return;
  if (const std::size_t count = platform::still_running(at->second).size(); count > 0)
    log(LogLevel::warn, "module '" + row_name(rows_[index]) + "' leaves " + counted(count, "thread") +
                            " running that began while it loaded; join them in its unload");
}

void Runtime::Registry::name_objects_left(const std::vector<std::size_t>& unloaded) const {
  std::map<std::string, std::size_t> by_plugin;
  for (const auto& [library, count] : live_objects_by_library())
    for (const std::size_t index : unloaded)
      if (file(rows_[index]).path.parent_path() == library.parent_path()) {
        by_plugin[file(rows_[index]).name] += count;
        break;
      }
  if (by_plugin.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [plugin, count] : by_plugin)
    parts.push_back(counted(count, "object") + " of plugin '" + plugin + "'");
  log(LogLevel::info,
      "objects outlive their plugins: " + joined(parts) +
          "; they are not destroyed, their code stays in memory, and using them finds no other plugin");
}

}  // namespace novaphy
