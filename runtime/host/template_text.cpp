// SPDX-License-Identifier: Apache-2.0
#include "template_text.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include "novaphy/error.hpp"

namespace novaphy::host {
namespace {

/// "solver" of "@if solver@"; nothing for other lines.
std::optional<std::string> directive(const std::string& line, const std::string& word) {
  const std::string begin = "@" + word + " ";
  if (!line.starts_with(begin) || !line.ends_with("@") || line.size() <= begin.size()) return std::nullopt;
  return line.substr(begin.size(), line.size() - begin.size() - 1);
}

}  // namespace

std::string fill_values(const std::string& text, const TemplateValues& values) {
  static const std::regex pattern("@([A-Za-z]+)@");
  std::string out;
  auto rest = text.cbegin();
  for (std::smatch match; std::regex_search(rest, text.cend(), match, pattern); rest = match[0].second) {
    const auto value = values.values.find(match[1]);
    if (value == values.values.end())
      fail(ErrorKind::generic, "the template names the value '", match[1].str(), "', which does not exist");
    out.append(rest, match[0].first).append(value->second);
  }
  return out.append(rest, text.cend());
}

std::optional<std::string> fill_template(const std::string& text, const TemplateValues& values) {
  std::vector<bool> conditions;
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (const auto part = directive(line, "file")) {
      if (!values.parts.contains(*part)) return std::nullopt;
    } else if (const auto wanted = directive(line, "if")) {
      conditions.push_back(values.parts.contains(*wanted));
    } else if (line == "@end@") {
      if (conditions.empty()) fail(ErrorKind::generic, "the template has an @end@ without @if@");
      conditions.pop_back();
    } else if (std::find(conditions.begin(), conditions.end(), false) == conditions.end()) {
      out += fill_values(line, values) + "\n";
    }
  }
  if (!conditions.empty()) fail(ErrorKind::generic, "the template has an @if@ without @end@");
  return out;
}

std::string without_last_commas(const std::string& json) {
  static const std::regex pattern(R"(,(\s*[\]}]))");
  return std::regex_replace(json, pattern, "$1");
}

}  // namespace novaphy::host
