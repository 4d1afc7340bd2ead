// SPDX-License-Identifier: Apache-2.0
// Options of a solver as its factory receives them: a JSON object, read key by key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/export.hpp"

namespace novaphy::semi_implicit {

/// Reads options into fields that hold the defaults. `who` begins the messages.
class NOVAPHY_API JsonOptions {
 public:
  /// `json` "" = no options. Throws Error(parse) unless it is a JSON object.
  JsonOptions(std::string_view json, const char* who);
  // Each throws Error(value) when the value has another type.
  void read(const char* key, float& field);
  void read(const char* key, bool& field);
  void read(const char* key, std::optional<float>& field);
  void read(const char* key, std::optional<std::string>& field);
  /// Throws Error(value) for a key that no read() asked for.
  void finish() const;

 private:
  const std::string* find(const char* key);
  const char* who_;
  std::map<std::string, std::string> values_;  // key -> JSON text
  std::vector<std::string> known_;
};

}  // namespace novaphy::semi_implicit
