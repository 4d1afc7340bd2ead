// SPDX-License-Identifier: Apache-2.0
// C04 to C06, C09 and C11: how a module loads, under this host and under others.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "check.hpp"
#include "novaphy/abi.h"
#include "novaphy/plugin.hpp"
#include "novaphy/task_pool.hpp"
#include "platform/host/own_process.hpp"
#include "platform/shared_library.hpp"
#include "platform/threads.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void load_requirements(Runtime& runtime, const std::string& module) {
  for (const std::string& required : required_modules(runtime, module)) runtime.load(required);
}

const novaphy_plugin* descriptor_of(const fs::path& library) {
  const auto entry = reinterpret_cast<novaphy_plugin_entry_function>(
      platform::find_function(platform::open_library(library), NOVAPHY_PLUGIN_ENTRY));
  if (entry == nullptr) throw Stop{Outcome::failure("NP303 has no " NOVAPHY_PLUGIN_ENTRY)};
  return entry();
}

/// A host of our own: a struct larger than today's, an ABI of choice, and what it hides.
class OwnHost {
 public:
  OwnHost(Runtime& runtime, const ReportRow& row, std::uint32_t abi_major)
      : runtime_(runtime),
        config_(runtime.config_json(row.plugin)),
        folder_(fs::path(row.path).parent_path()) {
    std::fill(std::begin(future_.more), std::end(future_.more), 0xA5);
    future_.host = {sizeof(Future),
                    abi_major,
                    NOVAPHY_ABI_MINOR + 7,
                    0,
                    this,
                    &OwnHost::log,
                    &OwnHost::publish,
                    &OwnHost::find,
                    &OwnHost::config_json,
                    &OwnHost::plugin_dir};
  }
  void hide(const std::string& interface_id, const std::string& name) {
    hidden_.push_back(interface_id + " " + name);
  }
  const novaphy_host* host() const { return &future_.host; }
  int published() const { return published_; }

 private:
  struct Future {
    novaphy_host host;
    unsigned char more[64];
  };
  static OwnHost& self(void* ctx) { return *static_cast<OwnHost*>(ctx); }
  static void log(void*, std::int32_t, const char*) {}
  static novaphy_status publish(void* ctx, const char*, const char*, void*, novaphy_error*) {
    self(ctx).published_ += 1;
    return NOVAPHY_OK;
  }
  static void* find(void* ctx, const char* interface_id, const char* name, novaphy_error* error) {
    OwnHost& host = self(ctx);
    const std::string key = std::string(interface_id) + " " + name;
    if (std::find(host.hidden_.begin(), host.hidden_.end(), key) != host.hidden_.end()) {
      plugin_detail::fill(error, NOVAPHY_E_NOT_FOUND,
                          ("no " + key + ": hidden by novaphy-host check").c_str());
      return nullptr;
    }
    try {
      return host.runtime_.find(interface_id, name);
    } catch (const std::exception& missing) {
      plugin_detail::fill(error, NOVAPHY_E_NOT_FOUND, missing.what());
    }
    return nullptr;
  }
  static const char* config_json(void* ctx) { return self(ctx).config_.c_str(); }
  static const char* plugin_dir(void* ctx) { return self(ctx).folder_.c_str(); }

  Runtime& runtime_;
  std::string config_, folder_;
  std::vector<std::string> hidden_;
  Future future_{};
  int published_ = 0;
};

struct Answer {
  novaphy_status status;
  std::string message;
};

/// What a module's load or unload says; what it throws is an answer, too.
Answer call(decltype(novaphy_plugin::load) function, const OwnHost& host) {
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  try {
    const novaphy_status status = function(host.host(), &error);
    error.message[sizeof error.message - 1] = '\0';  // a foreign function wrote it
    return {status, error.message};
  } catch (const std::exception& thrown) {
    return {NOVAPHY_E_EXCEPTION, thrown.what()};
  } catch (...) {
    return {NOVAPHY_E_EXCEPTION, "an unknown exception"};
  }
}

bool is_below(const fs::path& path, const char* variable) {
  const char* folder = std::getenv(variable);
  return folder != nullptr && path.string().starts_with(std::string(folder) + "/");
}

}  // namespace

Outcome check_entry(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const ReportRow row = row_to_load(step, runtime);
  load_module(step, runtime);
  const novaphy_plugin* first = descriptor_of(row.library);
  if (first != descriptor_of(row.library))
    return Outcome::failure("its " NOVAPHY_PLUGIN_ENTRY
                            " returned two different descriptors; return the address of " +
                            std::string("one static object each time"));
  return {};
}

Outcome check_other_hosts(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const ReportRow row = row_to_load(step, runtime);
  load_requirements(runtime, step.module);
  const novaphy_plugin* plugin = descriptor_of(row.library);

  OwnHost other(runtime, row, NOVAPHY_ABI_MAJOR + 1);
  const Answer refused = call(plugin->load, other);
  if (refused.status != NOVAPHY_E_ABI || other.published() != 0)
    return Outcome::failure("under a host of plugin ABI " + std::to_string(NOVAPHY_ABI_MAJOR + 1) +
                            " its load returned status " + std::to_string(refused.status) +
                            "; return NOVAPHY_E_ABI when host->abi_major is not NOVAPHY_ABI_MAJOR");
  const OwnHost larger(runtime, row, NOVAPHY_ABI_MAJOR);
  const Answer loaded = call(plugin->load, larger);
  if (loaded.status == NOVAPHY_UNAVAILABLE) return Outcome::skip("unavailable: " + loaded.message);
  if (loaded.status != NOVAPHY_OK)
    return Outcome::failure("under a host whose struct is larger than today's its load returned status " +
                            std::to_string(loaded.status) + ": " + loaded.message +
                            "; test struct_size with novaphy_has(), never for equality");
  if (plugin->unload == nullptr) return {};
  const Answer unloaded = call(plugin->unload, larger);
  if (unloaded.status != NOVAPHY_OK)
    return Outcome::failure("under a host whose struct is larger than today's its unload failed: " +
                            unloaded.message);
  return {};
}

Outcome check_leftovers(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  row_to_load(step, runtime);
  load_requirements(runtime, step.module);
  // the shared threads exist before the count, whoever uses them first
  parallel_for(4096, 1, [](std::int64_t, std::int64_t) {});
  const auto before = platform::thread_ids();
  load_module(step, runtime);
  Runtime::shutdown();
  std::vector<int> started;
  for (const int thread : platform::thread_ids())
    if (!std::binary_search(before.begin(), before.end(), thread)) started.push_back(thread);
  const std::size_t left = platform::still_running(std::move(started)).size();
  if (left > 0)
    return Outcome::failure("left " + std::to_string(left) + (left == 1 ? " thread" : " threads") +
                            " running after its unload; join what load started, or use novaphy::task_pool()");
  return {};
}

Outcome check_missing_requirements(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  const ReportRow row = row_to_load(step, runtime);
  const json required = module_manifest(runtime, step.module).value("requires", json::object());
  if (required.empty()) return Outcome::skip("requires nothing");
  load_requirements(runtime, step.module);
  OwnHost host(runtime, row, NOVAPHY_ABI_MAJOR);
  for (const auto& [name, range] : required.items())
    for (const json& item : module_manifest(runtime, name).value("provides", json::array()))
      host.hide(item.value("interface", ""), item.value("name", ""));
  const Answer answer = call(descriptor_of(row.library)->load, host);
  if (answer.status == NOVAPHY_OK || answer.status == NOVAPHY_UNAVAILABLE)
    return {};  // it finds them later, or never
  if (answer.message.empty())
    return Outcome::failure("when what it requires is not found its load returns status " +
                            std::to_string(answer.status) + " without a message; say what is missing");
  return {};
}

Outcome check_load_time(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  row_to_load(step, runtime);
  load_requirements(runtime, step.module);
  if (const char* home = std::getenv("HOME"); home != nullptr) fs::current_path(home);
  const std::vector<std::string> inherited =
      platform::files_open_for_writing();  // whoever started the check may leave some open
  const auto begin = std::chrono::steady_clock::now();
  load_module(step, runtime);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (seconds > step.load_limit) {
    std::ostringstream text;
    text << "loading took " << seconds << " s, the limit is " << step.load_limit
         << " s; do long work at the first use";
    return Outcome::failure(text.str());
  }
  for (const std::string& file : platform::files_open_for_writing()) {
    if (std::find(inherited.begin(), inherited.end(), file) != inherited.end()) continue;
    if (!is_below(file, "XDG_CACHE_HOME") && !is_below(file, "XDG_STATE_HOME"))
      return Outcome::failure("it holds " + file +
                              " open for writing; write below XDG_CACHE_HOME or XDG_STATE_HOME");
  }
  return {};
}

}  // namespace novaphy::host
