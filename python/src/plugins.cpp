// SPDX-License-Identifier: Apache-2.0
// The plugin system for novaphy.plugins and for the lazy modules. The GIL is released around every question,
// as one waits while another thread loads.
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "novaphy/error.hpp"
#include "novaphy/runtime.hpp"
#include "novaphy/task_pool.hpp"

namespace novaphy::python {
namespace {

/// True on a thread that runs the entry points of installed packages.
thread_local bool reads_entry_points = false;

/// An entry point that asked would be asked again for its answer.
void refuse_in_entry_point() {
  NOVAPHY_REQUIRE(!reads_entry_points, ErrorKind::generic,
                  "novaphy.plugins: asked by an entry point of group novaphy.plugins, before the plugins are planned; "
                  "an entry point only returns its folder");
}

/// How long a thread waits for another one that reads the entry points. Ordinary ones return at once; one that waits
/// for this thread would not return ever.
constexpr std::chrono::seconds kPatience{5};

/// The turn of one thread to read the entry points, so that a thread which an entry point starts cannot begin anew.
class ReadingEntryPoints {
 public:
  ReadingEntryPoints() {
    refuse_in_entry_point();
    bool has_turn = false;
    {
      const py::gil_scoped_release release;
      has_turn = turn().try_lock_for(kPatience);
    }
    if (!has_turn)
      fail(ErrorKind::generic, "novaphy.plugins: another thread has been reading the entry points of group "
           "novaphy.plugins for ", kPatience.count(), " s, now ", entry_point_now(), "; ask again when it is done, and "
           "never in an entry point, which only returns its folder");
    reads_entry_points = true;
  }
  ~ReadingEntryPoints() {
    reads_entry_points = false;
    turn().unlock();
  }
  ReadingEntryPoints(const ReadingEntryPoints&) = delete;
  ReadingEntryPoints& operator=(const ReadingEntryPoints&) = delete;

 private:
  static std::timed_mutex& turn() {
    static std::timed_mutex mutex;
    return mutex;
  }
  static std::string entry_point_now() {
    return py::module_::import("novaphy._entry_points").attr("now").cast<std::string>();
  }
};

/// Folders that installed packages name in entry points of group "novaphy.plugins".
std::vector<std::string> entry_point_paths() {
  const ReadingEntryPoints reading;
  return py::module_::import("novaphy._entry_points")
      .attr("plugin_folders")()
      .cast<std::vector<std::string>>();
}

/// The running plugin system. At first use it plans, with the folders of entry points beside what was
/// configured.
Runtime& runtime() {
  if (!Runtime::started()) {
    RuntimeOptions options = Runtime::configured();
    if (options.source == RuntimeOptions{}.source) options.source = "novaphy.plugins.configure";
    options.entry_point_paths = entry_point_paths();
    const py::gil_scoped_release release;  // planning may load libraries
    return Runtime::running_or_start(std::move(options));
  }
  return Runtime::instance();
}

/// What the runtime answers to `question`, asked without the GIL.
template <class Question>
auto ask(Question&& question) {
  Runtime& running = runtime();
  const py::gil_scoped_release release;
  return question(running);
}

/// The same for a function of a name.
template <auto Function>
auto ask_about(const std::string& name) {
  return ask([&](Runtime& running) { return (running.*Function)(name); });
}

void require(const std::string& name, const std::string& range) {
  ask([&](Runtime& running) { running.require(name, range); });
}

/// Loads the module that an extension binds, so that importing the extension by hand is safe too.
void require_module(const std::string& module, const std::string& extension) {
  const std::string reason = ask_about<&Runtime::why_not>(module);
  NOVAPHY_REQUIRE(reason.empty(), ErrorKind::plugin_not_available, extension, ": ", reason);
  ask_about<&Runtime::load>(module);
}

void configure(const std::vector<std::string>& paths, const std::optional<std::vector<std::string>>& enable,
               const std::vector<std::string>& disable, const std::string& config_json,
               const std::string& config_file, const std::vector<std::string>& allow_writable,
               std::optional<bool> safe, std::optional<bool> probe) {
  refuse_in_entry_point();
  RuntimeOptions options = Runtime::configured();
  options.source = "novaphy.plugins.configure";
  options.paths.insert(options.paths.end(), paths.begin(), paths.end());
  if (enable) options.enable = enable;
  options.disable.insert(options.disable.end(), disable.begin(), disable.end());
  if (!config_json.empty()) options.config_json = config_json;
  if (!config_file.empty()) options.config_file = config_file;
  options.allow_writable.insert(options.allow_writable.end(), allow_writable.begin(), allow_writable.end());
  if (safe) options.safe = *safe;
  if (probe) options.probe = *probe;
  Runtime::configure(std::move(options));
}

py::dict row_dict(const ReportRow& row) {
  using namespace py::literals;
  py::list problems;
  for (const PluginProblem& problem : row.problems) problems.append(problem.line());
  return py::dict("plugin"_a = row.plugin, "module"_a = row.module, "version"_a = row.version,
                  "state"_a = to_string(row.state), "path"_a = row.path, "library"_a = row.library,
                  "reason"_a = row.reason, "problems"_a = problems, "notes"_a = row.notes);
}

py::list rows(const std::vector<ReportRow>& report) {
  py::list out;
  for (const ReportRow& row : report) out.append(row_dict(row));
  return out;
}

py::list python_exports() {
  using namespace py::literals;
  py::list out;
  for (const PythonExport& one : ask([](Runtime& running) { return running.python_exports(); }))
    out.append(py::dict("public_module"_a = one.public_module, "name"_a = one.name, "plugin"_a = one.plugin,
                        "module"_a = one.module, "extension"_a = one.extension, "folder"_a = one.folder,
                        "can_load"_a = one.can_load, "reason"_a = one.reason));
  return out;
}

py::list search_places() {
  using namespace py::literals;
  py::list out;
  for (const SearchPlace& place : ask([](Runtime& running) { return running.search_places(); }))
    out.append(py::dict("label"_a = place.label, "path"_a = place.path, "exists"_a = place.exists,
                        "found"_a = place.found));
  return out;
}

}  // namespace

void bind_plugins(py::module_& m) {
  using namespace py::literals;
  m.def("require_module", &require_module, "module"_a, "extension"_a);
  py::module_ p = m.def_submodule("runtime", "The plugin system; novaphy.plugins is its face.");
  p.def("started", &Runtime::started);
  p.def("load", &ask_about<&Runtime::load>, "name"_a);
  p.def("require", &require, "name"_a, "range"_a);
  p.def("has", &ask_about<&Runtime::has>, "name"_a);
  p.def("why_not", &ask_about<&Runtime::why_not>, "name"_a);
  p.def("why", &ask_about<&Runtime::why>, "name"_a);
  p.def("report", [] { return rows(ask([](Runtime& running) { return running.report(); })); });
  p.def(
      "info", [](const std::string& name) { return rows(ask_about<&Runtime::info>(name)); }, "name"_a);
  p.def("notes", [] { return ask([](Runtime& running) { return running.notes(); }); });
  p.def("manifest_json", &ask_about<&Runtime::manifest_json>, "plugin"_a);
  p.def("config_json", &ask_about<&Runtime::config_json>, "plugin"_a);
  p.def("python_exports", &python_exports);
  p.def("search_places", &search_places);
  p.def("configure", &configure, "paths"_a, "enable"_a, "disable"_a, "config_json"_a, "config_file"_a,
        "allow_writable"_a, "safe"_a, "probe"_a);
  p.def("shutdown", [] {
    const py::gil_scoped_release release;
    Runtime::shutdown();
  });
  p.def("platform", &Runtime::platform);
  m.def(
      "thread_count", [] { return task_pool().thread_count(); }, "Threads that plugins share.");
  m.def(
      "set_thread_count", [](int count) { task_pool().set_thread_count(count); }, integer("count"));
  py::module_::import("atexit").attr("register")(p.attr("shutdown"));
}

}  // namespace novaphy::python
