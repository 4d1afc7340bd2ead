// SPDX-License-Identifier: Apache-2.0
// JSON options.
#include "novaphy/json_options.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "novaphy/error.hpp"

namespace novaphy {

struct JsonOptions::Values {
  const char* who;
  nlohmann::json object = nlohmann::json::object();
  std::vector<std::string> known{};

  /// The value of `key`, null when there is none.
  const nlohmann::json* find(const char* key) {
    known.emplace_back(key);
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }

  void require(bool fits, const char* key, const char* wanted, const nlohmann::json& value) const {
    NOVAPHY_REQUIRE(fits, ErrorKind::value, who, ": option '", key, "' must be ", wanted, ", is ", value.dump());
  }

  float number(const char* key, const char* wanted, const nlohmann::json& value) const {
    require(value.is_number(), key, wanted, value);
    return static_cast<float>(value.get<double>());
  }
};

JsonOptions::JsonOptions(std::string_view json, const char* who) : values_(new Values{who}) {
  if (json.empty()) return;
  values_->object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  NOVAPHY_REQUIRE(values_->object.is_object(), ErrorKind::parse, who, ": the options must be a JSON object, got '",
                  json, "'");
}

JsonOptions::~JsonOptions() = default;

void JsonOptions::read(const char* key, float& field) {
  if (const auto* value = values_->find(key)) field = values_->number(key, "a number", *value);
}

void JsonOptions::read(const char* key, std::int32_t& field) {
  const auto* value = values_->find(key);
  if (value == nullptr) return;
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min(), high = std::numeric_limits<std::int32_t>::max();
  // asked as unsigned too, since large ones would wrap around
  const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= static_cast<std::uint64_t>(high)
                                                : value->is_number_integer() && value->get<std::int64_t>() >= low;
  values_->require(fits, key, "an integer", *value);
  field = value->get<std::int32_t>();
}

void JsonOptions::read(const char* key, bool& field) {
  const auto* value = values_->find(key);
  if (value == nullptr) return;
  values_->require(value->is_boolean(), key, "true or false", *value);
  field = value->get<bool>();
}

void JsonOptions::read(const char* key, std::string& field) {
  const auto* value = values_->find(key);
  if (value == nullptr) return;
  values_->require(value->is_string(), key, "a string", *value);
  field = value->get<std::string>();
}

void JsonOptions::read(const char* key, std::optional<float>& field) {
  const auto* value = values_->find(key);
  if (value != nullptr && !value->is_null()) field = values_->number(key, "a number or null", *value);
}

void JsonOptions::read(const char* key, std::optional<std::string>& field) {
  const auto* value = values_->find(key);
  if (value == nullptr || value->is_null()) return;
  values_->require(value->is_string(), key, "a string or null", *value);
  field = value->get<std::string>();
}

void JsonOptions::read(const char* key, std::vector<std::string>& field) {
  const auto* value = values_->find(key);
  if (value == nullptr) return;
  const auto is_string = [](const nlohmann::json& item) { return item.is_string(); };
  values_->require(value->is_array() && std::all_of(value->begin(), value->end(), is_string), key,
                   "an array of strings", *value);
  field = value->get<std::vector<std::string>>();
}

void JsonOptions::finish() const {
  for (const auto& item : values_->object.items()) {
    if (std::find(values_->known.begin(), values_->known.end(), item.key()) != values_->known.end()) continue;
    std::string names;
    for (const std::string& name : values_->known) names += (names.empty() ? "" : ", ") + name;
    fail(ErrorKind::value, values_->who, ": there is no option '", item.key(), "'; there are ", names);
  }
}

}  // namespace novaphy
