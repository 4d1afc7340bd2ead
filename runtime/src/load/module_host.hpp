// SPDX-License-Identifier: Apache-2.0
// The runtime as one module sees it: the C functions behind novaphy_host, and the calls of load and unload.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/library.hpp"
#include "novaphy/abi.h"

namespace novaphy {

/// An object that a module offers.
struct Published {
  std::string interface_id, name;
  void* object = nullptr;
};

/// One module of this process. Its address is the `ctx` of the module's novaphy_host, and stays valid: a
/// module may keep it against the rules, and is loaded again by the next runtime.
class ModuleHost {
 public:
  /// Finds for this module; throws Error.
  using Find = std::function<void*(std::string_view interface_id, std::string_view name)>;

  ModuleHost(std::string module, std::string plugin_dir);
  /// The one of this library; made at the first call. Lives until the process ends.
  static ModuleHost& of(const std::filesystem::path& library, const std::string& module,
                        const std::string& plugin_dir);
  ModuleHost(const ModuleHost&) = delete;
  ModuleHost& operator=(const ModuleHost&) = delete;

  /// Calls the module's load; returns what it published. Throws LoadFailure (NP309 to NP312).
  const std::vector<Published>& load(const novaphy_plugin* plugin, std::string config_json, Find find,
                                     const std::vector<std::pair<std::string, std::string>>& declared);
  /// Calls the module's unload, if it was loaded and has one; afterwards it finds nothing. Returns the
  /// error's text, or nothing.
  std::string unload() noexcept;

 private:
  static void log_line(void* ctx, std::int32_t level, const char* message) noexcept;
  static novaphy_status publish(void* ctx, const char* interface_id, const char* name, void* object,
                                novaphy_error* error) noexcept;
  static void* find(void* ctx, const char* interface_id, const char* name, novaphy_error* error) noexcept;
  static const char* config_json(void* ctx) noexcept;
  static const char* plugin_dir(void* ctx) noexcept;
  void check_published(const std::vector<std::pair<std::string, std::string>>& declared) const;

  void set_find(Find find);
  std::string call_unload() noexcept;

  std::string module_, config_json_, plugin_dir_;
  std::mutex find_mutex_;             // a thread of the module may look up while it unloads
  std::shared_ptr<const Find> find_;  // null: nothing is found
  novaphy_host host_{};
  const novaphy_plugin* plugin_ = nullptr;
  std::vector<Published> published_;
  bool loading_ = false;
};

}  // namespace novaphy
