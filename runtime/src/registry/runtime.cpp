// SPDX-License-Identifier: Apache-2.0
// The public face: one runtime at a time in a process.
#include "novaphy/runtime.hpp"

#include <atomic>
#include <mutex>

#include "core/locks.hpp"
#include "load/journal.hpp"
#include "platform/process.hpp"
#include "registry/registry.hpp"

namespace novaphy {
namespace {

/// The running one. Runtimes are kept after they have stopped: a caller may still hold one, and a module its
/// host.
struct Process {
  std::atomic<Runtime*> current{nullptr};
  std::vector<Runtime*> stopped;
  RuntimeOptions options;
};

Process& process() {
  static Process& instance = *new Process;
  return instance;
}

}  // namespace

const char* to_string(PluginState state) noexcept {
  switch (state) {
    case PluginState::found:
      return "found";
    case PluginState::rejected:
      return "rejected";
    case PluginState::skipped:
      return "skipped";
    case PluginState::disabled:
      return "disabled";
    case PluginState::blocked:
      return "blocked";
    case PluginState::ready:
      return "ready";
    case PluginState::loading:
      return "loading";
    case PluginState::loaded:
      return "loaded";
    case PluginState::unavailable:
      return "unavailable";
    case PluginState::failed:
      return "failed";
    case PluginState::stopped:
      return "stopped";
  }
  return "unknown";
}

Runtime::Runtime(const RuntimeOptions& options) : registry_(std::make_unique<Registry>(options)) {}
Runtime::~Runtime() = default;

Runtime& Runtime::instance() {
  Process& self = process();
  if (Runtime* running = self.current.load(std::memory_order_acquire)) {
    return *running;
  }
  const std::lock_guard lock(runtime_mutex());
  if (Runtime* running = self.current.load()) return *running;
  auto* made = new Runtime(self.options);
  self.current.store(made, std::memory_order_release);
  made->registry_->load_startup();
  return *made;
}

void Runtime::configure(RuntimeOptions options) {
  Process& self = process();
  const std::lock_guard lock(runtime_mutex());
  if (self.current.load() != nullptr)
    throw Error("the plugins are planned already; configure them before the first use");
  self.options = std::move(options);
}

RuntimeOptions Runtime::configured() {
  Process& self = process();
  const std::lock_guard lock(runtime_mutex());
  return self.options;
}

Runtime& Runtime::start(RuntimeOptions options) {
  configure(std::move(options));
  return instance();
}

Runtime& Runtime::running_or_start(RuntimeOptions options) {
  const std::lock_guard lock(runtime_mutex());
  return started() ? instance() : start(std::move(options));
}

bool Runtime::started() noexcept {
  return process().current.load() != nullptr;
}

void Runtime::shutdown() {
  Process& self = process();
  Runtime* running = self.current.load();
  if (running == nullptr) return;
  // not under the process's lock: a thread that loads holds the registry's lock and may want the former
  running->registry_->stop();
  const std::lock_guard lock(runtime_mutex());
  if (self.current.compare_exchange_strong(running, nullptr)) {
    if (!self.stopped.empty()) self.stopped.back()->registry_->retire();
    self.stopped.push_back(running);
    self.options = {};
  }
}

std::vector<QuarantinedModule> Runtime::quarantined() {
  return unfinished_loads(journal_folder());
}
std::size_t Runtime::forgive(std::string_view name) {
  return forgive_loads(journal_folder(), name);
}

std::string Runtime::version() {
  return NOVAPHY_VERSION;
}
std::string Runtime::platform() {
  return platform::machine();
}

void* Runtime::find(std::string_view interface_id, std::string_view name) {
  return registry_->find(interface_id, name);
}

void* Runtime::find_or_null(std::string_view interface_id, std::string_view name) {
  try {
    return registry_->find(interface_id, name);
  } catch (const Error&) {
    return nullptr;
  }
}

std::vector<ProvidedInterface> Runtime::list(std::string_view interface_id) const {
  return registry_->list(interface_id);
}
void Runtime::load(std::string_view name) {
  registry_->load(name);
}

void Runtime::require(std::string_view name, std::string_view range) {
  registry_->require(name, range);
}

bool Runtime::has(std::string_view name) const noexcept {
  try {
    return registry_->has(name);
  } catch (...) {
    return false;
  }
}

void Runtime::require_listed() {
  registry_->require_listed();
}
std::string Runtime::on_error() const {
  return registry_->on_error();
}
std::vector<ReportRow> Runtime::report() const {
  return registry_->report();
}
std::vector<ReportRow> Runtime::info(std::string_view name) const {
  return registry_->info(name);
}
std::vector<std::string> Runtime::notes() const {
  return registry_->notes();
}
std::vector<SearchPlace> Runtime::search_places() const {
  return registry_->places();
}
std::vector<std::string> Runtime::why(std::string_view name) const {
  return registry_->why(name);
}
std::string Runtime::manifest_json(std::string_view plugin) const {
  return registry_->manifest_json(plugin);
}
std::string Runtime::config_json(std::string_view plugin) const {
  return registry_->config_json(plugin);
}
std::vector<PythonExport> Runtime::python_exports() const {
  return registry_->python_exports();
}
std::string Runtime::why_not(std::string_view name) const {
  return registry_->why_not(name);
}

void* find_interface(std::string_view interface_id, std::string_view name) {
  return Runtime::instance().find(interface_id, name);
}

void* find_interface_or_null(std::string_view interface_id, std::string_view name) {
  return Runtime::instance().find_or_null(interface_id, name);
}

std::vector<ProvidedInterface> list_interface(std::string_view interface_id) {
  return Runtime::instance().list(interface_id);
}

}  // namespace novaphy
