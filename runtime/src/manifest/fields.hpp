// SPDX-License-Identifier: Apache-2.0
// Tables of the keys of a JSON object. One table validates a file, makes its JSON schema and its
// documentation.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/problems.hpp"

namespace novaphy {

/// What a key's value is made of.
enum class Kind {
  boolean,
  integer,
  number,
  string,
  strings,           ///< array of string
  value,             ///< boolean, number, string or array of string
  values,            ///< array of boolean, number or string
  object,            ///< object of `inner`
  objects,           ///< array of objects of `inner`
  names_or_objects,  ///< array of string or object of `inner`
  text_by_name,      ///< object: name -> string
  strings_by_name,   ///< object: name -> array of string
  object_by_name,    ///< object: name -> object of `inner`
  values_by_name,    ///< object: name -> object of anything
};

/// A rule for the text of strings.
struct TextRule {
  const char* code;
  bool (*holds)(std::string_view text);
  std::string (*message)(const std::string& text);  ///< what is wrong with this text
  const char* pattern;                              ///< the same rule for the JSON schema; may allow more
  const char* words;                                ///< the same rule for the page of the format
};

struct Field;
using Fields = std::vector<Field>;

struct Field {
  const char* key;
  Kind kind;
  const char* doc;
  bool required = false;
  const TextRule* rule = nullptr;         ///< of the string, or of each string in it
  std::vector<const char*> choices = {};  ///< of the string
  const Fields* inner = nullptr;
  const TextRule* name_rule = nullptr;  ///< of the keys of a ..._by_name object
  bool stamped = false;                 ///< written by the build
  const char* fallback = "";            ///< what holds when the key is absent, as JSON
};

/// The codes under which problems are reported.
struct FieldCodes {
  const char *unknown_key, *missing_key, *wrong_type, *bad_choice;
};

/// Checks one object: unknown keys (except those that begin with x-), missing keys, types, choices and text
/// rules, and all objects inside it.
void check_fields(const nlohmann::json& object, const Fields& fields, const FieldCodes& codes,
                  const std::string& pointer, Problems& problems);

/// The JSON schema of an object with these fields.
nlohmann::json schema_of(const Fields& fields);

/// A Markdown table of these fields and, below it, one for every object inside them, headed by its key.
std::string markdown_of(const Fields& fields);

}  // namespace novaphy
