// SPDX-License-Identifier: Apache-2.0
// Markdown tables of the keys of a JSON object.
#include <fmt/format.h>

#include "manifest/fields.hpp"

namespace novaphy {
namespace {

std::string type_text(const Field& field) {
  switch (field.kind) {
    case Kind::boolean:
      return "boolean";
    case Kind::integer:
      return "integer";
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::strings:
      return "array of strings";
    case Kind::value:
      return "boolean, number, string or array of strings";
    case Kind::values:
      return "array of booleans, numbers or strings";
    case Kind::object:
      return "object";
    case Kind::objects:
      return "array of objects";
    case Kind::names_or_objects:
      return "array of strings or objects";
    case Kind::text_by_name:
      return "object: name to string";
    case Kind::strings_by_name:
      return "object: name to array of strings";
    case Kind::object_by_name:
    case Kind::values_by_name:
      return "object: name to object";
  }
  return {};
}

std::string code(const std::string& text) {
  return text.empty() ? text : "`" + text + "`";
}

/// Choices and patterns; a bar would end the cell.
std::string rule_text(const Field& field) {
  std::string out;
  for (const char* choice : field.choices) out += (out.empty() ? "one of " : ", ") + code(choice);
  if (field.name_rule != nullptr) out += "names: " + std::string(field.name_rule->words);
  if (field.rule != nullptr) out += std::string(out.empty() ? "" : "; ") + field.rule->words;
  return out;
}

std::string presence_text(const Field& field) {
  if (field.stamped) return "by the build";
  return field.required ? "required" : code(field.fallback);
}

void add_tables(const Fields& fields, const std::string& path, std::string& out) {
  out += "| key | type | default | rule | |\n|---|---|---|---|---|\n";
  for (const Field& field : fields)
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.key, type_text(field), presence_text(field),
                       rule_text(field), field.doc);
  for (const Field& field : fields) {
    if (field.inner == nullptr) continue;
    const bool is_named = field.kind == Kind::object_by_name;
    const bool is_listed = field.kind == Kind::objects || field.kind == Kind::names_or_objects;
    const std::string inner = path + field.key + (is_named ? ".NAME" : is_listed ? "[]" : "");
    out += fmt::format("\n### `{}`\n\n", inner);
    add_tables(*field.inner, inner + ".", out);
  }
}

}  // namespace

std::string markdown_of(const Fields& fields) {
  std::string out;
  add_tables(fields, "", out);
  return out;
}

}  // namespace novaphy
