// SPDX-License-Identifier: Apache-2.0
// The table of a host configuration's keys, its JSON schema, and the page of both formats.
#include <fmt/format.h>

#include "novaphy/reference.hpp"
#include "resolve/host_config.hpp"

namespace novaphy {
namespace {

const Fields& entry_fields() {
  static const Fields fields = {
      {.key = "name", .kind = Kind::string, .doc = "plugin or module", .required = true},
      {.key = "required",
       .kind = Kind::boolean,
       .doc = "false: it may be absent, and its failure is a note",
       .fallback = "true"},
  };
  return fields;
}

bool holds_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

const TextRule kSha256{"NP403", holds_sha256,
                       [](const std::string& t) {
                         return "'" + t + "' is no SHA-256; write the 64 digits that sha256sum prints";
                       },
                       "^[0-9a-f]{64}$", "64 hexadecimal digits"};

const TextRule kFolder{"NP403",
                       [](std::string_view text) { return text.find('\0') == std::string_view::npos; },
                       [](const std::string& t) { return nul_in_path(t); }, "^[^\\u0000]*$", "without NUL"};

constexpr const char* kPageBegin = R"(# The manifest, `<plugin>.novaplugin.json`

<!-- Written by `novaphy-host manifest-schema --page`; change the tables in runtime/src/manifest/manifest_fields.cpp
     and runtime/src/resolve/host_config_fields.cpp instead. -->

A plugin is a folder `<plugin>/` with `<plugin>.novaplugin.json` and one shared library a module. Authors write the
manifest without `library` and `abi`; the build stamps both into the copy beside the library. JSON without comments, at
most 1 MiB and 16 levels deep. Unknown keys are errors, except those that begin with `x-`. Everything wrong with a file
is reported together, with the codes of [errors.md](errors.md).

`novaphy-host manifest-schema` prints the JSON schema, made from the same table.

)";

constexpr const char* kPageRanges = R"(
### Ranges

`*`, or comparators `>=`, `>`, `<=`, `<`, `=` on `X`, `X.Y` or `X.Y.Z`, separated by spaces; all must hold. Only the
parts that are written count for `=`, `<=` and `>`: `=0.1` and `<=0.1` hold for 0.1.7. There is no `^`, `~` or `||`.

## The host configuration, `novaphy.host.json`

What a host wants: given by `novaphy-host --config FILE`, `novaphy.plugins.configure(config=...)` or
`RuntimeOptions::config_file`. What comes from the command line or from Python stands above it.
`novaphy-host manifest-schema --host-config` prints its JSON schema.

)";

}  // namespace

const Fields& host_config_fields() {
  static const Fields fields = {
      {.key = "schema", .kind = Kind::integer, .doc = "version of this format: 1", .fallback = "1"},
      {.key = "plugins",
       .kind = Kind::names_or_objects,
       .doc = "exactly these plugins or modules and what they require; absent: every one that is enabled",
       .inner = &entry_fields()},
      {.key = "disable",
       .kind = Kind::strings,
       .doc = "plugins or modules that must not load; whoever requires one is blocked",
       .fallback = "[]"},
      {.key = "paths",
       .kind = Kind::strings,
       .doc = "folders with plugins, relative to this file",
       .rule = &kFolder,
       .fallback = "[]"},
      {.key = "sha256",
       .kind = Kind::text_by_name,
       .doc = "module -> what `sha256sum` says of its library; another file is not loaded (NP317)",
       .rule = &kSha256,
       .fallback = "{}"},
      {.key = "on_error",
       .kind = Kind::string,
       .doc =
           "what the failure of a plugin that is listed as required does; absent: fail in novaphy-host run, "
           "continue in Python",
       .choices = {"fail", "continue"}},
      {.key = "config",
       .kind = Kind::values_by_name,
       .doc = "plugin -> option -> value, checked against the plugin's manifest",
       .fallback = "{}"},
  };
  return fields;
}

std::string host_config_schema() {
  nlohmann::json schema = schema_of(host_config_fields());
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "NovaPhy host configuration";
  schema["properties"]["schema"]["const"] = kHostConfigSchema;
  return schema.dump(2);
}

std::string manifest_page() {
  return kPageBegin + markdown_of(manifest_fields()) + kPageRanges + markdown_of(host_config_fields());
}

}  // namespace novaphy
