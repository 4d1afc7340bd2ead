// SPDX-License-Identifier: Apache-2.0
// The modules of one runtime: their states, the loading on first use, and what they publish.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks.hpp"
#include "load/journal.hpp"
#include "load/module_host.hpp"
#include "novaphy/runtime.hpp"
#include "platform/foreign_call.hpp"
#include "registry/published_objects.hpp"
#include "registry/started_threads.hpp"
#include "resolve/discover.hpp"
#include "resolve/host_config.hpp"
#include "resolve/plan.hpp"

namespace novaphy {

/// All functions lock, but for find() of what is loaded; a module's load runs under the lock and may call
/// back.
///
/// There is one lock, so what can wait for ever is a load that waits for another thread which asks for
/// something not yet loaded, or for a report. What is loaded already is found by any thread at any time.
class Runtime::Registry {
 public:
  /// Discovers and plans. Throws Error(parse) with the lines of a wrong host configuration.
  explicit Registry(const RuntimeOptions& options);

  /// Loads the modules of phase `device` and those with `"load": "startup"`.
  void load_startup();
  /// Unloads in reverse order; afterwards nothing is found. One line of the log names what outlives its
  /// plugin.
  void stop();
  /// Gives back the memory of one that has stopped; it still answers, with less.
  void retire();

  void* find(std::string_view interface_id, std::string_view name);
  std::vector<ProvidedInterface> list(std::string_view interface_id) const;
  void load(std::string_view name);
  void require(std::string_view name, std::string_view range);
  void require_listed();
  bool has(std::string_view name) const;
  std::string why_not(std::string_view name) const;

  std::vector<ReportRow> report() const;
  std::vector<ReportRow> info(std::string_view name) const;
  std::vector<std::string> why(std::string_view name) const;
  std::vector<PythonExport> python_exports() const;
  std::string manifest_json(std::string_view plugin) const;
  std::string config_json(std::string_view plugin) const;
  std::string on_error() const;
  std::vector<std::string> notes() const;
  std::vector<SearchPlace> places() const;

 private:
  using Lock = std::lock_guard<std::recursive_mutex>;
  using Key = PublishedObjects::Key;

  const ManifestFile& file(const PlannedModule& row) const { return discovery_.files[row.file]; }
  const ModuleManifest& module(const PlannedModule& row) const {
    return file(row).manifest.modules[*row.module];
  }
  std::string row_name(const PlannedModule& row) const;
  std::string pointer(const PlannedModule& row) const;
  bool can_load(const PlannedModule& row) const;

  /// The rows that a name means: the module of that name, else the rows of the plugin.
  std::vector<std::size_t> rows_named(std::string_view name) const;
  /// "module 'nova' of plugin 'nova_diff' isn't loaded: blocked: ...".
  std::string not_loaded(const PlannedModule& row) const;
  std::string unknown_name(std::string_view name) const;
  std::string unknown_interface(std::string_view interface_id, std::string_view name) const;
  std::string plugin_instead(std::string_view interface_id, std::string_view name) const;
  std::string where_searched() const;

  /// True when the row is loaded afterwards; else its state and problems say why.
  bool load_row(std::size_t index);
  void load_library(std::size_t index);
  /// Returns the error's text, or nothing.
  std::string unload(std::size_t index);
  void fail_row(std::size_t index, const LoadFailure& failure);
  void block_dependants(std::size_t index);

  /// Keeps which threads began while a row loaded.
  void note_threads(std::size_t index, const std::optional<StartedThreads>& threads);
  /// Logs which of them still run after its unload.
  void name_threads_left(std::size_t index) const;
  void name_objects_left(const std::vector<std::size_t>& unloaded) const;

  /// Fails the modules during whose load a process died.
  void quarantine();
  /// Around each call of a module's code: what is said when the process ends in the middle of it. `what` is
  /// "loaded" or "unloaded". None where the runtime keeps no journal: whoever started such a process looks
  /// on.
  std::optional<platform::ForeignCall> foreign_call(const PlannedModule& row, const char* what) const;
  /// True for a library that did not come with the runtime.
  bool is_third_party(const std::filesystem::path& library) const;

  ReportRow report_row(const PlannedModule& row) const;
  void explain(const PlannedModule& row, std::vector<std::string>& lines) const;

  std::recursive_mutex& mutex_ = load_mutex();
  RuntimeOptions options_;
  HostConfig host_;
  Discovery discovery_;
  Facts facts_;
  std::vector<PlannedModule> rows_;
  std::vector<std::size_t> order_;                   // of loading, as planned
  std::vector<ModuleHost*> hosts_;                   // one a row, null until its load begins
  std::vector<std::size_t> loaded_;                  // rows, in the order in which they were loaded
  std::map<std::size_t, std::vector<int>> threads_;  // that began while a row loaded
  PublishedObjects published_;
  LoadJournal journal_;
  bool stopped_ = false;
};

}  // namespace novaphy
