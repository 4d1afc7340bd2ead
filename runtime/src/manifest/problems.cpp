// SPDX-License-Identifier: Apache-2.0
#include "manifest/problems.hpp"

namespace novaphy {

std::string joined(const std::vector<std::string>& items, const char* separator) {
  std::string out;
  for (const std::string& item : items) {
    if (!out.empty()) out += separator;
    out += item;
  }
  return out;
}

std::string joined_lines(const std::vector<PluginProblem>& problems) {
  std::vector<std::string> lines;
  for (const PluginProblem& problem : problems) lines.push_back(problem.line());
  return joined(lines, "\n");
}

std::string pointer_segment(const std::string& key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace novaphy
