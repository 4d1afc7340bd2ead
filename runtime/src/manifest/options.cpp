// SPDX-License-Identifier: Apache-2.0
#include "manifest/options.hpp"

#include <algorithm>
#include <array>

#include "manifest/json_text.hpp"

namespace novaphy {
namespace {

using nlohmann::json;

bool has_type(const std::string& type, const json& value) {
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const json& item) { return item.is_string(); });
}

std::string with_article(const std::string& type) {
  if (type == "array-of-string") return "an array of strings";
  return (type == "integer" ? "an " : "a ") + type;
}

/// Types and keys have their own checks; this one only skips what they refuse.
bool is_description(const json& description) {
  if (!description.is_object() || !description.contains("default")) return false;
  const auto type = description.find("type");
  constexpr std::array kTypes{"boolean", "integer", "number", "string", "array-of-string"};
  const auto fits = [&](const char* key, bool (json::*is)() const noexcept) {
    return !description.contains(key) || (description[key].*is)();
  };
  return type != description.end() && std::find(kTypes.begin(), kTypes.end(), *type) != kTypes.end() &&
         fits("min", &json::is_number) && fits("max", &json::is_number) && fits("enum", &json::is_array);
}

std::string quoted(const json& value) {
  return value.is_string() ? "'" + excerpt(value.get<std::string>()) + "'" : value.dump();
}

}  // namespace

std::string option_misfit(const json& description, const json& value) {
  const std::string type = description.at("type").get<std::string>();
  if (!has_type(type, value)) return "must be " + with_article(type) + ", is " + describe_value(value);
  if (value.is_number()) {
    if (description.contains("min") && value < description["min"])
      return value.dump() + " is below min " + description["min"].dump();
    if (description.contains("max") && value > description["max"])
      return value.dump() + " is above max " + description["max"].dump();
  }
  if (description.contains("enum")) {
    const json& choices = description["enum"];
    const auto allowed = [&](const json& item) {
      return std::find(choices.begin(), choices.end(), item) != choices.end();
    };
    std::vector<std::string> names;
    for (const json& choice : choices)
      names.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
    for (const json& item : value.is_array() ? value : json::array({value}))
      if (!allowed(item)) return quoted(item) + " is not one of " + joined(names);
  }
  return {};
}

void check_option_descriptions(const json& config, const std::string& pointer, Problems& problems) {
  if (!config.is_object()) return;
  for (const auto& [name, description] : config.items()) {
    if (!is_description(description)) continue;
    const std::string misfit = option_misfit(description, description["default"]);
    if (!misfit.empty()) problems.add("NP116", pointer + pointer_segment(name) + "/default", misfit);
  }
}

json default_options(const json& config) {
  json out = json::object();
  for (const auto& [name, description] : config.items()) out[name] = description["default"];
  return out;
}

}  // namespace novaphy
