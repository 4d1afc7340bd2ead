// SPDX-License-Identifier: Apache-2.0
// Options as a plugin and its factories receive them: a JSON object, read key by key over the defaults.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/export.hpp"

namespace novaphy {

/// Reads options into fields that hold the defaults; a key that is not there leaves its field as it is.
///
///     JsonOptions options(json, "SolverAcme");
///     options.read("iterations", config.iterations);
///     options.finish();
///
/// PluginContext::config_json() is checked against the manifest already; what a factory's create() receives is
/// checked here alone. One thread.
class NOVAPHY_API JsonOptions {
 public:
  /// `json` "" = no options. `who` begins the messages and must outlive this. Throws Error(parse) unless `json`
  /// is a JSON object.
  JsonOptions(std::string_view json, const char* who);
  ~JsonOptions();
  JsonOptions(const JsonOptions&) = delete;
  JsonOptions& operator=(const JsonOptions&) = delete;

  // Each throws Error(value) when the value has another type. null in an optional field leaves its default.
  void read(const char* key, float& field);
  void read(const char* key, std::int32_t& field);
  void read(const char* key, bool& field);
  void read(const char* key, std::string& field);
  void read(const char* key, std::optional<float>& field);
  void read(const char* key, std::optional<std::string>& field);
  void read(const char* key, std::vector<std::string>& field);
  /// Throws Error(value) for a key that no read() asked for, with those that were.
  void finish() const;

 private:
  struct Values;
  std::unique_ptr<Values> values_;
};

}  // namespace novaphy
