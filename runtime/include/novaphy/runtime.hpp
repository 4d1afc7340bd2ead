// SPDX-License-Identifier: Apache-2.0
// The plugin system: what is found, what may load and why not, and the objects that loaded modules publish.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/api.hpp"
#include "novaphy/error.hpp"
#include "novaphy/export.hpp"

namespace novaphy {

/// Where a module stands: found -> rejected | skipped | disabled | blocked | ready; ready -> loading -> loaded |
/// unavailable | failed; loaded -> stopped.
enum class PluginState : int {
  found = 0,  ///< manifest seen, not planned yet
  rejected,   ///< its manifest is wrong, or it is built for another ABI
  skipped,    ///< for another platform or release, or shadowed by an earlier manifest of the same name
  disabled,   ///< the host configuration or the manifest says so
  blocked,    ///< something that it requires is not there
  ready,      ///< loads at first use
  loading,
  loaded,
  unavailable,  ///< healthy, but this machine lacks what it needs
  failed,       ///< its library could not be loaded; sticky until the process ends
  stopped,      ///< unloaded by shutdown()
};
NOVAPHY_API const char* to_string(PluginState state) noexcept;

/// One finding about a file. Printed as "CODE path#pointer: text".
struct PluginProblem {
  std::string code;     ///< "NP203"
  std::string path;     ///< the file, or "command line"
  std::string pointer;  ///< "/modules/0" or empty
  std::string text;     ///< what is wrong; what to do

  std::string line() const {
    return code + " " + path + (pointer.empty() ? std::string() : "#" + pointer) + ": " + text;
  }
};

/// One module of one manifest. A manifest that could not be read, or is shadowed, has one row with an empty
/// `module`.
struct ReportRow {
  std::string plugin, module, version;
  PluginState state = PluginState::found;
  std::string path;     ///< the manifest, canonical
  std::string library;  ///< the library, absolute; empty when the manifest was not read
  std::string reason;   ///< why it is not ready or loaded, without code and path; empty when it is
  std::vector<PluginProblem> problems;  ///< the same with codes and places
  std::vector<std::string> notes;       ///< worth knowing, no hindrance
};

/// A folder or file that was searched for manifests, in the order of the search.
struct SearchPlace {
  std::string label;  ///< "host configuration", "NOVAPHY_PLUGIN_PATH", ...
  std::string path;
  bool exists = false;
  std::vector<std::string> found;  ///< manifests in it, canonical
};

/// A Python name that a manifest promises: `public_module`.`name` is attribute `name` of extension
/// `extension`, an importable module or a file `<extension>.*.so` in `folder`.
struct PythonExport {
  std::string public_module, name;
  std::string plugin, module, extension, folder;
  bool can_load = false;
  std::string reason;  ///< why it cannot
};

/// What a host says before the first use. Everything has a default.
struct RuntimeOptions {
  std::string config_file;             ///< a novaphy.host.json
  std::vector<std::string> manifests;  ///< single manifests, searched first
  std::vector<std::string> paths;  ///< folders, searched after the manifests and before NOVAPHY_PLUGIN_PATH
  std::vector<std::string>
      entry_point_paths;  ///< folders that Python packages name, after NOVAPHY_PLUGIN_PATH
  std::optional<std::vector<std::string>> enable;  ///< exactly these plugins or modules and what they require
  std::vector<std::string> disable;                ///< plugins or modules
  std::string config_json;                         ///< {"plugin": {"option": value}}; stands above the file's
  std::vector<std::string> allow_writable;         ///< folders whose files others may write or own
  bool safe = false;                               ///< only plugins from the folder beside the runtime
  std::string source = "command line";             ///< what messages call these options
  bool no_lazy = false;     ///< load at the start everything that can load
  bool probe = false;       ///< load what did not come with the runtime in a child process first (NP316)
  double probe_limit = 10;  ///< how long such a child may take [s]
  bool journal = true;      ///< remember a plugin that kills the process while it loads (NP313)
  bool plan_only = false;   ///< the start loads nothing, not even modules with `"load": "startup"`
};

/// A module during whose load a process died. It is not loaded until it is forgiven or its library changes.
struct QuarantinedModule {
  std::string plugin, module, library;
  long process = 0;  ///< the one that died
  std::string date;  ///< when, in universal time: "2026-11-30"
};

/// The process's plugin system. One exists at a time; all functions are thread-safe. Loading happens under
/// one lock on the calling thread.
class NOVAPHY_API Runtime {
 public:
  /// The running one; plans with the configured options at first use. Planning reads manifests and loads only
  /// modules of phase `device` or with `"load": "startup"`. Throws Error(parse) with NP4xx lines when the
  /// host configuration is wrong.
  static Runtime& instance();
  /// Sets the options of the next start. Throws Error when a runtime is running.
  static void configure(RuntimeOptions options);
  /// The options that configure() set, for adding to them.
  static RuntimeOptions configured();
  /// configure() and instance().
  static Runtime& start(RuntimeOptions options);
  /// The running one, whatever its options; else start(options). Of several threads the first one starts it.
  static Runtime& running_or_start(RuntimeOptions options);
  static bool started() noexcept;
  /// Stops modules in reverse order of loading. Afterwards another runtime may start. Nothing happens when
  /// none runs.
  static void shutdown();

  /// The modules that killed a process while they loaded, by name. Any thread; needs no running plugin system.
  static std::vector<QuarantinedModule> quarantined();
  /// Ends the quarantine of a plugin or module, for runtimes that start afterwards; returns how many deaths were
  /// forgiven. Throws Error when the journal cannot be written.
  static std::size_t forgive(std::string_view name);

  /// "0.1.0".
  static std::string version();
  /// "linux-x86_64".
  static std::string platform();

  /// The object under (interface_id, name); loads its module when needed. Throws Error(plugin_not_available)
  /// with the whole reason.
  void* find(std::string_view interface_id, std::string_view name);
  void* find_or_null(std::string_view interface_id, std::string_view name);
  /// What manifests declare, by name. Loads nothing.
  std::vector<ProvidedInterface> list(std::string_view interface_id) const;

  /// Loads a module, or a plugin's modules that can load, and all that they require. A name that is both
  /// means the module. Throws Error(plugin_not_available): "plugin 'vbd' isn't loaded: blocked: requires
  /// 'collision', which ...".
  void load(std::string_view name);
  /// load(), where the plugin's version lies in `range`, such as ">=0.1 <0.2". Throws Error(plugin_not_available)
  /// where it does not, and Error(value) for a text that is no range.
  void require(std::string_view name, std::string_view range);
  /// Whether a plugin or module is loaded or can load. Loads nothing.
  bool has(std::string_view name) const noexcept;
  /// Loads every plugin that the host configuration lists as required. Throws Error(plugin_not_available)
  /// with NP407 and the plugin's own line.
  void require_listed();
  /// `on_error` of the configuration file: "fail", "continue", or empty when it says nothing.
  std::string on_error() const;

  /// One row a module, by plugin and module.
  std::vector<ReportRow> report() const;
  /// The rows of one plugin or module; empty when the name is unknown.
  std::vector<ReportRow> info(std::string_view name) const;
  /// What discovery noticed outside of any plugin ("NOVAPHY_PLUGIN_PATH: ... is relative, ignored").
  std::vector<std::string> notes() const;
  std::vector<SearchPlace> search_places() const;
  /// The resolution of one plugin or module, step by step, one line each.
  std::vector<std::string> why(std::string_view name) const;
  /// The manifest of a plugin as JSON text; empty when the name is unknown.
  std::string manifest_json(std::string_view plugin) const;
  /// The validated options of a plugin as JSON text, defaults filled in; empty when the name is unknown.
  std::string config_json(std::string_view plugin) const;
  /// Every Python name of every manifest, by public module and name.
  std::vector<PythonExport> python_exports() const;
  /// The sentence of load() for a name that cannot load; empty when it can.
  std::string why_not(std::string_view name) const;

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

 private:
  class Registry;
  explicit Runtime(const RuntimeOptions& options);
  ~Runtime();
  std::unique_ptr<Registry> registry_;
};

/// The known name that is closest to a misspelt one: fewest edits (a swap of neighbours counts as one), at
/// most a third of the name's length and at least one. Empty when none is near; ties go to the earlier name.
NOVAPHY_API std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
/// What follows a name that does not exist: "; did you mean 'x'? There are: x, y", or "; there are: x, y" where
/// none is near; nothing where none is known.
NOVAPHY_API std::string known_names(std::string_view name, const std::vector<std::string>& known);

/// The JSON schema of manifests, made from the table that validates them.
NOVAPHY_API std::string manifest_schema();

}  // namespace novaphy
