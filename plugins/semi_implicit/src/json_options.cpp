// SPDX-License-Identifier: Apache-2.0
// JSON options.
#include "src/json_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

JsonOptions::JsonOptions(std::string_view json, const char* who) : who_(who) {
  if (json.empty()) return;
  const auto object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  NOVAPHY_REQUIRE(object.is_object(), ErrorKind::parse, who_, ": the options must be a JSON object, got '",
                  json, "'");
  for (const auto& item : object.items()) values_[item.key()] = item.value().dump();
}

const std::string* JsonOptions::find(const char* key) {
  known_.emplace_back(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void JsonOptions::read(const char* key, float& field) {
  const std::string* json = find(key);
  if (json == nullptr) return;
  const auto value = nlohmann::json::parse(*json);
  NOVAPHY_REQUIRE(value.is_number(), ErrorKind::value, who_, ": option '", key, "' must be a number, is ",
                  *json);
  field = static_cast<float>(value.get<double>());
}

void JsonOptions::read(const char* key, bool& field) {
  const std::string* json = find(key);
  if (json == nullptr) return;
  NOVAPHY_REQUIRE(*json == "true" || *json == "false", ErrorKind::value, who_, ": option '", key,
                  "' must be true or false, is ", *json);
  field = *json == "true";
}

void JsonOptions::read(const char* key, std::optional<float>& field) {
  const auto found = values_.find(key);
  if (found != values_.end() && found->second == "null") {
    find(key);
    return;
  }
  float number = 0.0f;
  read(key, number);
  if (found != values_.end()) field = number;
}

void JsonOptions::read(const char* key, std::optional<std::string>& field) {
  const std::string* json = find(key);
  if (json == nullptr || *json == "null") return;
  const auto value = nlohmann::json::parse(*json);
  NOVAPHY_REQUIRE(value.is_string(), ErrorKind::value, who_, ": option '", key,
                  "' must be a string or null, is ", *json);
  field = value.get<std::string>();
}

void JsonOptions::finish() const {
  for (const auto& [key, value] : values_) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string names;
    for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
    fail(ErrorKind::value, who_, ": there is no option '", key, "'; there are ", names);
  }
}

}  // namespace novaphy::semi_implicit
