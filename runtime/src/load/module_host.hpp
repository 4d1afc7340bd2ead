// SPDX-License-Identifier: Apache-2.0
// The runtime as one module sees it: the C functions behind novaphy_host, and the calls of load and unload.
#pragma once

#include <functional>
#include <memory>
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

/// One loaded module. Its address is the `ctx` of the module's novaphy_host.
class ModuleHost {
 public:
  /// Finds for this module; throws Error.
  using Find = std::function<void*(std::string_view interface_id, std::string_view name)>;

  ModuleHost(std::string module, std::string config_json, std::string plugin_dir, Find find);
  ModuleHost(const ModuleHost&) = delete;
  ModuleHost& operator=(const ModuleHost&) = delete;

  /// Calls the module's load; returns what it published. Throws LoadFailure (NP309 to NP312).
  const std::vector<Published>& load(const novaphy_plugin* plugin,
                                     const std::vector<std::pair<std::string, std::string>>& declared);
  /// Calls the module's unload, if it was loaded and has one. Returns the error's text, or nothing.
  std::string unload() noexcept;

 private:
  static void log_line(void* ctx, std::int32_t level, const char* message) noexcept;
  static novaphy_status publish(void* ctx, const char* interface_id, const char* name, void* object,
                                novaphy_error* error) noexcept;
  static void* find(void* ctx, const char* interface_id, const char* name, novaphy_error* error) noexcept;
  static const char* config_json(void* ctx) noexcept;
  static const char* plugin_dir(void* ctx) noexcept;
  void check_published(const std::vector<std::pair<std::string, std::string>>& declared) const;

  std::string module_, config_json_, plugin_dir_;
  Find find_;
  novaphy_host host_{};
  const novaphy_plugin* plugin_ = nullptr;
  std::vector<Published> published_;
  bool loading_ = false;
};

}  // namespace novaphy
