// SPDX-License-Identifier: Apache-2.0
// The table of a manifest's keys, and the JSON schema that it makes.
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
                     "^[a-z][a-z0-9_]{1,31}$"};
const TextRule kVersion{
    "NP111", [](std::string_view t) { return parse_version(t).has_value(); },
    [](const std::string& t) { return "'" + t + "' is not a version; write 'MAJOR.MINOR.PATCH'"; },
    "^[0-9]+\\.[0-9]+\\.[0-9]+$"};
const TextRule kRange{"NP111", [](std::string_view t) { return parse_range(t).has_value(); }, range_message,
                      "^(\\*|( *(>=|>|<=|<|=)[0-9]+(\\.[0-9]+){0,2})+ *)$"};
const TextRule kAbi{"NP111", holds_abi,
                    [](const std::string& t) { return "'" + t + "' is not an ABI; write 'MAJOR.MINOR'"; },
                    "^[0-9]+\\.[0-9]+$"};
const TextRule kPath{"NP113", holds_path,
                     [](const std::string& t) {
                       return t.empty()        ? "must not be empty"
                              : has_control(t) ? "'" + t + "' holds a control character"
                                               : "'" + t + "' leaves the plugin's folder";
                     },
                     "^[^/].*$"};
const TextRule kInterface{"NP114", holds_interface,
                          [](const std::string& t) { return "'" + t + "' must be 'dotted.Name/INTEGER'"; },
                          "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)+/[0-9]+$"};
const TextRule kOneLine{"NP107", [](std::string_view t) { return !has_control(t); },
                        [](const std::string& t) {
                          return std::string(t.find('\n') == std::string::npos
                                                 ? "must hold no control characters"
                                                 : "must be one line");
                        },
                        "^[^\\u0000-\\u001f\\u007f]*$"};
const TextRule kPythonModule{
    "NP109", holds_dotted,
    [](const std::string& t) { return "'" + t + "' is not the name of a Python module"; },
    "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$"};
const TextRule kIdentifier{
    "NP109", holds_identifier,
    [](const std::string& t) { return "'" + t + "' must match [A-Za-z_][A-Za-z0-9_]*"; },
    "^[A-Za-z_][A-Za-z0-9_]*$"};

const Fields& provides_fields() {
  static const Fields fields = {
      {"interface", Kind::string, "id of the interface, such as novaphy.ISolverFactory/1", true, &kInterface},
      {"name", Kind::string, "name under which the object is found", true, &kOneLine},
      {"summary", Kind::string, "one line for lists", false, &kOneLine},
      {"devices", Kind::strings, "devices on which it runs", false, &kOneLine},
  };
  return fields;
}

const Fields& python_fields() {
  static const Fields fields = {
      {"module", Kind::string, "extension module, beside the library or importable", true, &kPythonModule},
      {"exports",
       Kind::strings_by_name,
       "public module -> names that it takes from the extension",
       true,
       &kIdentifier,
       {},
       nullptr,
       &kPythonModule},
  };
  return fields;
}

const Fields& module_fields() {
  static const Fields fields = {
      {"name", Kind::string, "unique over all plugins; the library's own name", true, &kName},
      {"library",
       Kind::string,
       "the library, relative to the manifest; written by the build",
       true,
       &kPath,
       {},
       nullptr,
       nullptr,
       true},
      {"abi",
       Kind::string,
       "plugin ABI for which the library is built; written by the build",
       true,
       &kAbi,
       {},
       nullptr,
       nullptr,
       true},
      {"requires",
       Kind::text_by_name,
       "modules that must load first, with their versions",
       false,
       &kRange,
       {},
       nullptr,
       &kName},
      {"optional",
       Kind::text_by_name,
       "modules that load first where they are present and healthy",
       false,
       &kRange,
       {},
       nullptr,
       &kName},
      {"conflicts", Kind::strings, "modules that cannot be enabled together with this one", false, &kName},
      {"phase",
       Kind::string,
       "order of loading: device backends first, viewers and demos late",
       false,
       nullptr,
       {"device", "default", "late"}},
      {"load",
       Kind::string,
       "lazy: when something that it provides is first asked for",
       false,
       nullptr,
       {"startup", "lazy"}},
      {"provides",
       Kind::objects,
       "objects that the module publishes when it loads",
       false,
       nullptr,
       {},
       &provides_fields()},
      {"python", Kind::object, "the Python extension of this module", false, nullptr, {}, &python_fields()},
  };
  return fields;
}

const Fields& option_fields() {
  static const Fields fields = {
      {"type",
       Kind::string,
       "what the option's value is",
       true,
       nullptr,
       {"boolean", "integer", "number", "string", "array-of-string"}},
      {"default", Kind::value, "value where the host says nothing", true},
      {"min", Kind::number, "smallest number allowed"},
      {"max", Kind::number, "largest number allowed"},
      {"enum", Kind::values, "values allowed"},
      {"doc", Kind::string, "one line of documentation with the unit", true, &kOneLine},
  };
  return fields;
}

}  // namespace

const Fields& manifest_fields() {
  static const Fields fields = {
      {"schema", Kind::integer, "version of this format: 1", true},
      {"name", Kind::string, "the plugin's name; equals the file's stem and its folder", true, &kName},
      {"version", Kind::string, "MAJOR.MINOR.PATCH of the plugin", true, &kVersion},
      {"title", Kind::string, "one line for lists", false, &kOneLine},
      {"description", Kind::string, "one line", false, &kOneLine},
      {"license", Kind::string, "SPDX expression", false, &kOneLine},
      {"homepage", Kind::string, "URL", false, &kOneLine},
      {"authors", Kind::strings, "names", false, &kOneLine},
      {"runtime", Kind::string, "NovaPhy releases with which it works", false, &kRange},
      {"enabled", Kind::boolean, "whether it is used when the host configuration is silent"},
      {"platforms", Kind::strings, "such as linux-x86_64; none means any", false, &kOneLine},
      {"modules", Kind::objects, "the libraries of the plugin", true, nullptr, {}, &module_fields()},
      {"config",
       Kind::object_by_name,
       "options that the host may set",
       false,
       nullptr,
       {},
       &option_fields(),
       &kIdentifier},
      {"data", Kind::string, "folder of assets, relative to the manifest", false, &kPath},
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
