// SPDX-License-Identifier: Apache-2.0
// The table of a manifest's keys: it validates, and makes the JSON schema and the documentation.
#include <algorithm>
#include <filesystem>

#include "manifest/manifest.hpp"
#include "novaphy/abi.h"

namespace novaphy {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool holds_name(std::string_view text) {
  return text.size() >= 2 && text.size() <= 32 && is_lower(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 127; });
}

bool holds_path(std::string_view text) {
  const std::filesystem::path path(text);
  return !text.empty() && !has_control(text) && path.is_relative() &&
         std::find(path.begin(), path.end(), "..") == path.end();
}

bool holds_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

bool holds_dotted(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!holds_identifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool holds_interface(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !holds_dotted(text.substr(0, slash))) return false;
  const std::string_view number = text.substr(slash + 1);
  return text.find('.') < slash && !number.empty() && std::all_of(number.begin(), number.end(), is_digit);
}

bool holds_abi(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && parse_version(std::string(text) + ".0").has_value();
}

std::string range_message(const std::string& text) {
  std::string example = ">=1.0 <2.0";
  // "^1.4" of other tools means "at least 1.4, below the next major"
  if (text.starts_with("^") && parse_range(">=" + text.substr(1)))
    example = ">=" + text.substr(1) + " <" + std::to_string(std::stoll(text.substr(1)) + 1) + ".0";
  return "'" + text + "' is not a range; write '" + example + "'";
}

const TextRule kName{"NP109", holds_name,
                     [](const std::string& t) { return "'" + t + "' must match [a-z][a-z0-9_]{1,31}"; },
                     "^[a-z][a-z0-9_]{1,31}$", "`[a-z][a-z0-9_]{1,31}`"};
const TextRule kVersion{
    "NP111", [](std::string_view t) { return parse_version(t).has_value(); },
    [](const std::string& t) { return "'" + t + "' is not a version; write 'MAJOR.MINOR.PATCH'"; },
    "^[0-9]+\\.[0-9]+\\.[0-9]+$", "`MAJOR.MINOR.PATCH`"};
const TextRule kRange{"NP111", [](std::string_view t) { return parse_range(t).has_value(); }, range_message,
                      "^(\\*|( *(>=|>|<=|<|=)[0-9]+(\\.[0-9]+){0,2})+ *)$", "range, see below"};
const TextRule kAbi{"NP111", holds_abi,
                    [](const std::string& t) { return "'" + t + "' is not an ABI; write 'MAJOR.MINOR'"; },
                    "^[0-9]+\\.[0-9]+$", "`MAJOR.MINOR`"};
const TextRule kPath{"NP113", holds_path,
                     [](const std::string& t) {
                       return t.empty()        ? "must not be empty"
                              : has_control(t) ? "'" + t + "' holds a control character"
                                               : "'" + t + "' leaves the plugin's folder";
                     },
                     "^[^/].*$", "relative, inside the plugin's folder"};
const TextRule kInterface{"NP114", holds_interface,
                          [](const std::string& t) { return "'" + t + "' must be 'dotted.Name/INTEGER'"; },
                          "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)+/[0-9]+$",
                          "`dotted.Name/INTEGER`"};
const TextRule kOneLine{"NP107", [](std::string_view t) { return !has_control(t); },
                        [](const std::string& t) {
                          return std::string(t.find('\n') == std::string::npos
                                                 ? "must hold no control characters"
                                                 : "must be one line");
                        },
                        "^[^\\u0000-\\u001f\\u007f]*$", "one line"};
const TextRule kPythonModule{
    "NP109", holds_dotted,
    [](const std::string& t) { return "'" + t + "' is not the name of a Python module"; },
    "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$", "dotted Python name"};
const TextRule kIdentifier{
    "NP109", holds_identifier,
    [](const std::string& t) { return "'" + t + "' must match [A-Za-z_][A-Za-z0-9_]*"; },
    "^[A-Za-z_][A-Za-z0-9_]*$", "identifier"};

const Fields& provides_fields() {
  static const Fields fields = {
      {.key = "interface",
       .kind = Kind::string,
       .doc = "id of the interface, such as novaphy.ISolverFactory/1",
       .required = true,
       .rule = &kInterface},
      {.key = "name",
       .kind = Kind::string,
       .doc = "name under which the object is found; (interface, name) is unique over all plugins",
       .required = true,
       .rule = &kOneLine},
      {.key = "summary", .kind = Kind::string, .doc = "one line for lists", .rule = &kOneLine},
      {.key = "devices", .kind = Kind::strings, .doc = "devices on which it runs", .rule = &kOneLine},
  };
  return fields;
}

const Fields& python_fields() {
  static const Fields fields = {
      {.key = "module",
       .kind = Kind::string,
       .doc = "extension module, beside the library or importable",
       .required = true,
       .rule = &kPythonModule},
      {.key = "exports",
       .kind = Kind::strings_by_name,
       .doc = "public module -> names that it takes from the extension",
       .required = true,
       .rule = &kIdentifier,
       .name_rule = &kPythonModule},
  };
  return fields;
}

const Fields& module_fields() {
  static const Fields fields = {
      {.key = "name",
       .kind = Kind::string,
       .doc = "unique over all plugins; the library's own name",
       .required = true,
       .rule = &kName},
      {.key = "library",
       .kind = Kind::string,
       .doc = "the library, relative to the manifest; written by the build",
       .required = true,
       .rule = &kPath,
       .stamped = true},
      {.key = "abi",
       .kind = Kind::string,
       .doc = "plugin ABI for which the library is built; written by the build",
       .required = true,
       .rule = &kAbi,
       .stamped = true},
      {.key = "requires",
       .kind = Kind::text_by_name,
       .doc = "modules that must load first, with their versions",
       .rule = &kRange,
       .name_rule = &kName,
       .fallback = "{}"},
      {.key = "optional",
       .kind = Kind::text_by_name,
       .doc = "modules that load first where they are present and healthy",
       .rule = &kRange,
       .name_rule = &kName,
       .fallback = "{}"},
      {.key = "conflicts",
       .kind = Kind::strings,
       .doc = "modules that cannot be enabled together with this one",
       .rule = &kName,
       .fallback = "[]"},
      {.key = "phase",
       .kind = Kind::string,
       .doc = "order of loading: device backends first, viewers and demos late",
       .choices = {"device", "default", "late"},
       .fallback = "\"default\""},
      {.key = "load",
       .kind = Kind::string,
       .doc = "lazy: when something that it provides is first asked for",
       .choices = {"startup", "lazy"},
       .fallback = "\"lazy\""},
      {.key = "provides",
       .kind = Kind::objects,
       .doc = "objects that the module publishes when it loads",
       .inner = &provides_fields(),
       .fallback = "[]"},
      {.key = "python",
       .kind = Kind::object,
       .doc = "the Python extension of this module",
       .inner = &python_fields()},
  };
  return fields;
}

const Fields& option_fields() {
  static const Fields fields = {
      {.key = "type",
       .kind = Kind::string,
       .doc = "what the option's value is",
       .required = true,
       .choices = {"boolean", "integer", "number", "string", "array-of-string"}},
      {.key = "default",
       .kind = Kind::value,
       .doc = "value where the host says nothing; it fits the rest of the description",
       .required = true},
      {.key = "min", .kind = Kind::number, .doc = "smallest number allowed"},
      {.key = "max", .kind = Kind::number, .doc = "largest number allowed"},
      {.key = "enum", .kind = Kind::values, .doc = "values allowed"},
      {.key = "doc",
       .kind = Kind::string,
       .doc = "one line of documentation with the unit",
       .required = true,
       .rule = &kOneLine},
  };
  return fields;
}

}  // namespace

const Fields& manifest_fields() {
  static const Fields fields = {
      {.key = "schema", .kind = Kind::integer, .doc = "version of this format: 1", .required = true},
      {.key = "name",
       .kind = Kind::string,
       .doc = "the plugin's name; equals the file's stem and its folder",
       .required = true,
       .rule = &kName},
      {.key = "version",
       .kind = Kind::string,
       .doc = "MAJOR.MINOR.PATCH of the plugin",
       .required = true,
       .rule = &kVersion},
      {.key = "title", .kind = Kind::string, .doc = "one line for lists", .rule = &kOneLine},
      {.key = "description", .kind = Kind::string, .doc = "one line", .rule = &kOneLine},
      {.key = "license", .kind = Kind::string, .doc = "SPDX expression", .rule = &kOneLine},
      {.key = "homepage", .kind = Kind::string, .doc = "URL", .rule = &kOneLine},
      {.key = "authors", .kind = Kind::strings, .doc = "names", .rule = &kOneLine},
      {.key = "runtime",
       .kind = Kind::string,
       .doc = "NovaPhy releases with which it works",
       .rule = &kRange,
       .fallback = "\"*\""},
      {.key = "enabled",
       .kind = Kind::boolean,
       .doc = "whether it is used when the host configuration is silent",
       .fallback = "true"},
      {.key = "platforms",
       .kind = Kind::strings,
       .doc = "such as linux-x86_64; none means any",
       .rule = &kOneLine,
       .fallback = "[]"},
      {.key = "modules",
       .kind = Kind::objects,
       .doc = "the libraries of the plugin, 1 to 100; one that is alone has the plugin's name",
       .required = true,
       .inner = &module_fields()},
      {.key = "config",
       .kind = Kind::object_by_name,
       .doc = "options that the host may set",
       .inner = &option_fields(),
       .name_rule = &kIdentifier,
       .fallback = "{}"},
      {.key = "data",
       .kind = Kind::string,
       .doc = "folder of assets, relative to the manifest",
       .rule = &kPath},
  };
  return fields;
}

std::string manifest_schema() {
  nlohmann::json schema = schema_of(manifest_fields());
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "NovaPhy plugin manifest";
  schema["properties"]["schema"]["const"] = kManifestSchema;
  schema["properties"]["modules"]["minItems"] = 1;
  return schema.dump(2);
}

}  // namespace novaphy
