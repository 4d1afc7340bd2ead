// SPDX-License-Identifier: Apache-2.0
// The language of sdk/template: @name@ stands for a value, @if part@ ... @end@ for lines of one part.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace novaphy::host {

/// What a template is filled with.
struct TemplateValues {
  std::map<std::string, std::string> values;  ///< "name" -> "acme_sph"
  std::set<std::string> parts;                ///< "solver", "python"
};

/// The text with every @value@ replaced. Throws Error for a value that is unknown.
std::string fill_values(const std::string& text, const TemplateValues& values);

/// A whole file; nothing when a line `@file part@` says that it belongs to a part that is not wanted. Throws
/// Error for an @if without @end.
std::optional<std::string> fill_template(const std::string& text, const TemplateValues& values);

/// JSON without the commas that lines left out leave before a closing bracket.
std::string without_last_commas(const std::string& json);

}  // namespace novaphy::host
