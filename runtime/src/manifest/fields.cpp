// SPDX-License-Identifier: Apache-2.0
#include "manifest/fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/json_text.hpp"
#include "manifest/nearest_name.hpp"

namespace novaphy {
namespace {

using nlohmann::json;

bool is_int32(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= INT32_MAX;
  return value.is_number_integer() && value.get<std::int64_t>() >= INT32_MIN &&
         value.get<std::int64_t>() <= INT32_MAX;
}

bool is_scalar(const json& value) {
  return value.is_boolean() || value.is_number() || value.is_string();
}

bool all_of(const json& array, bool (*holds)(const json&)) {
  return array.is_array() && std::all_of(array.begin(), array.end(), holds);
}

bool is_strings(const json& value) {
  return all_of(value, [](const json& item) { return item.is_string(); });
}

/// Empty when `value` is of the kind as far as its own type goes; else what it must be.
const char* wanted_type(const json& value, Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return value.is_boolean() ? "" : "true or false";
    case Kind::integer:
      return is_int32(value) ? "" : "an integer";
    case Kind::number:
      return value.is_number() ? "" : "a number";
    case Kind::string:
      return value.is_string() ? "" : "a string";
    case Kind::strings:
      return is_strings(value) ? "" : "an array of strings";
    case Kind::value:
      return is_scalar(value) || is_strings(value) ? "" : "a boolean, number, string or array of strings";
    case Kind::values:
      return all_of(value, is_scalar) ? "" : "an array of booleans, numbers or strings";
    case Kind::objects:
      return value.is_array() ? "" : "an array of objects";
    case Kind::names_or_objects:
      return value.is_array() ? "" : "an array of strings or objects";
    case Kind::object:
    case Kind::text_by_name:
    case Kind::strings_by_name:
    case Kind::object_by_name:
    case Kind::values_by_name:
      break;
  }
  return value.is_object() ? "" : "an object";
}

class Checker {
 public:
  Checker(const FieldCodes& codes, Problems& problems) : codes_(codes), problems_(problems) {}

  void object(const json& value, const Fields& fields, const std::string& pointer) {
    std::vector<std::string> keys;
    for (const Field& field : fields) keys.emplace_back(field.key);
    for (const auto& [key, item] : value.items()) {
      const auto field =
          std::find_if(fields.begin(), fields.end(), [&key = key](const Field& f) { return key == f.key; });
      if (field != fields.end())
        member(item, *field, pointer + pointer_segment(key));
      else if (!key.starts_with("x-"))
        problems_.add(codes_.unknown_key, pointer + pointer_segment(key),
                      "unknown key" + did_you_mean(key, keys));
    }
    for (const Field& field : fields) {
      if (!field.required || value.contains(field.key)) continue;
      problems_.add(
          codes_.missing_key, pointer + pointer_segment(field.key),
          field.stamped ? "required; the build writes it into the copy beside the library" : "required");
    }
  }

 private:
  void member(const json& value, const Field& field, const std::string& pointer) {
    if (!has_type(value, field.kind, pointer)) return;
    switch (field.kind) {
      case Kind::string:
        text(value, field, pointer);
        break;
      case Kind::strings:
        each_text(value, field, pointer);
        break;
      case Kind::object:
        object(value, *field.inner, pointer);
        break;
      case Kind::objects:
        each_object(value, field, pointer, false);
        break;
      case Kind::names_or_objects:
        each_object(value, field, pointer, true);
        break;
      case Kind::text_by_name:
        by_name(value, field, pointer, Kind::string);
        break;
      case Kind::strings_by_name:
        by_name(value, field, pointer, Kind::strings);
        break;
      case Kind::object_by_name:
      case Kind::values_by_name:
        by_name(value, field, pointer, Kind::object);
        break;
      default:
        break;
    }
  }

  bool has_type(const json& value, Kind kind, const std::string& pointer) {
    const std::string wanted = wanted_type(value, kind);
    if (wanted.empty()) return true;
    problems_.add(codes_.wrong_type, pointer, "must be " + wanted + ", is " + describe_value(value));
    return false;
  }

  void text(const json& value, const Field& field, const std::string& pointer) {
    const std::string content = value.get<std::string>();
    const auto is_content = [&](const char* choice) { return content == choice; };
    if (!field.choices.empty() && std::none_of(field.choices.begin(), field.choices.end(), is_content)) {
      problems_.add(
          codes_.bad_choice, pointer,
          "'" + excerpt(content) + "' is not one of " + joined({field.choices.begin(), field.choices.end()}));
    }
    if (field.rule != nullptr) follows(content, *field.rule, pointer);
  }

  void follows(const std::string& content, const TextRule& rule, const std::string& pointer) {
    if (!rule.holds(content)) problems_.add(rule.code, pointer, rule.message(excerpt(content)));
  }

  void each_text(const json& array, const Field& field, const std::string& pointer) {
    for (std::size_t i = 0; i < array.size(); ++i) text(array[i], field, pointer + "/" + std::to_string(i));
  }

  void each_object(const json& array, const Field& field, const std::string& pointer, bool or_name) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      const std::string item = pointer + "/" + std::to_string(i);
      if (or_name && array[i].is_string())
        text(array[i], field, item);
      else if (has_type(array[i], Kind::object, item))
        object(array[i], *field.inner, item);
    }
  }

  void by_name(const json& values, const Field& field, const std::string& pointer, Kind kind) {
    for (const auto& [name, value] : values.items()) {
      const std::string item = pointer + pointer_segment(name);
      if (field.name_rule != nullptr) follows(name, *field.name_rule, item);
      if (!has_type(value, kind, item)) continue;
      if (kind == Kind::string) text(value, field, item);
      if (kind == Kind::strings) each_text(value, field, item);
      if (field.kind == Kind::object_by_name) object(value, *field.inner, item);
    }
  }

  const FieldCodes& codes_;
  Problems& problems_;
};

json string_schema(const Field& field) {
  json schema = {{"type", "string"}};
  if (field.rule != nullptr) schema["pattern"] = field.rule->pattern;
  if (!field.choices.empty()) schema["enum"] = field.choices;
  return schema;
}

json array_schema(json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

json by_name_schema(const Field& field, json value) {
  json schema = {{"type", "object"}, {"additionalProperties", std::move(value)}};
  if (field.name_rule != nullptr) schema["propertyNames"] = {{"pattern", field.name_rule->pattern}};
  return schema;
}

json field_schema(const Field& field) {
  const json scalar = {{"type", {"boolean", "number", "string"}}};
  switch (field.kind) {
    case Kind::boolean:
      return {{"type", "boolean"}};
    case Kind::integer:
      return {{"type", "integer"}};
    case Kind::number:
      return {{"type", "number"}};
    case Kind::string:
      return string_schema(field);
    case Kind::strings:
      return array_schema(string_schema(field));
    case Kind::value:
      return {{"anyOf", {scalar, array_schema({{"type", "string"}})}}};
    case Kind::values:
      return array_schema(scalar);
    case Kind::object:
      return schema_of(*field.inner);
    case Kind::objects:
      return array_schema(schema_of(*field.inner));
    case Kind::names_or_objects:
      return array_schema({{"anyOf", {string_schema(field), schema_of(*field.inner)}}});
    case Kind::text_by_name:
      return by_name_schema(field, string_schema(field));
    case Kind::strings_by_name:
      return by_name_schema(field, array_schema(string_schema(field)));
    case Kind::object_by_name:
      return by_name_schema(field, schema_of(*field.inner));
    case Kind::values_by_name:
      return by_name_schema(field, {{"type", "object"}});
  }
  return {};
}

}  // namespace

void check_fields(const json& object, const Fields& fields, const FieldCodes& codes,
                  const std::string& pointer, Problems& problems) {
  Checker(codes, problems).object(object, fields, pointer);
}

json schema_of(const Fields& fields) {
  json schema = {
      {"type", "object"}, {"additionalProperties", false}, {"patternProperties", {{"^x-", json::object()}}}};
  json required = json::array();
  for (const Field& field : fields) {
    schema["properties"][field.key] = field_schema(field);
    schema["properties"][field.key]["description"] = field.doc;
    // what the build stamps is absent from the file that an author writes
    if (field.required && !field.stamped) required.push_back(field.key);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace novaphy
