// SPDX-License-Identifier: Apache-2.0
#include "manifest/problems.hpp"

#include <nlohmann/json.hpp>

namespace novaphy {

std::string printable(const std::string& text) {
  using nlohmann::json;
  // JSON's writer knows UTF-8 and escapes; what it does to quotes and backslashes is undone
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string out;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && (quoted[i + 1] == '\\' || quoted[i + 1] == '"')) ++i;
    // DEL and U+0080 to U+009F, which are control characters as well, and JSON leaves them alone
    const auto byte = static_cast<unsigned char>(quoted[i]), next = static_cast<unsigned char>(quoted[i + 1]);
    if (byte == 0x7f)
      out += "\\u007f";
    else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f)
      out += std::string("\\u00") + (next < 0x90 ? "8" : "9") + "0123456789abcdef"[next & 0xf], ++i;
    else
      out += quoted[i];
  }
  return out;
}

std::string excerpt(const std::string& text) {
  return text.size() <= kMaxExcerpt ? text : text.substr(0, kMaxExcerpt) + "...";
}

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
