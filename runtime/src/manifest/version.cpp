// SPDX-License-Identifier: Apache-2.0
#include "manifest/version.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace novaphy {
namespace {

/// Reads "X", "X.Y" or "X.Y.Z"; returns how many numbers there were, 0 when the text is something else.
int parse_parts(std::string_view text, Version& version) {
  const char* at = text.data();
  const char* end = at + text.size();
  for (int part = 0; part < 3; ++part) {
    if (at == end || *at < '0' || *at > '9') return 0;
    if (*at == '0' && at + 1 != end && at[1] >= '0' && at[1] <= '9') return 0;  // "01"
    const auto [next, error] = std::from_chars(at, end, version.parts[static_cast<std::size_t>(part)]);
    if (error != std::errc()) return 0;
    if (next == end) return part + 1;
    if (*next != '.') return 0;
    at = next + 1;
  }
  return 0;
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  if (parse_parts(text, version) != 3) return std::nullopt;
  return version;
}

bool VersionRange::contains(const Version& version) const {
  return std::all_of(comparators_.begin(), comparators_.end(), [&](const Comparator& comparator) {
    // only the parts that were written count for "=", "<=" and ">": "<=0.1" holds for 0.1.7
    Version cut = version;
    if (comparator.op != "<" && comparator.op != ">=")
      std::fill(cut.parts.begin() + comparator.given, cut.parts.end(), 0);
    if (comparator.op == ">=") return cut >= comparator.version;
    if (comparator.op == ">") return cut > comparator.version;
    if (comparator.op == "<=") return cut <= comparator.version;
    if (comparator.op == "<") return cut < comparator.version;
    return cut == comparator.version;
  });
}

std::optional<VersionRange> parse_range(std::string_view text) {
  VersionRange range;
  range.text_ = text;
  if (text == "*") return range;
  std::istringstream words{std::string(text)};
  std::string word;
  while (words >> word) {
    VersionRange::Comparator comparator;
    for (const char* op : {">=", "<=", ">", "<", "="}) {
      if (word.starts_with(op)) {
        comparator.op = op;
        break;
      }
    }
    if (comparator.op.empty()) return std::nullopt;
    comparator.given = parse_parts(std::string_view(word).substr(comparator.op.size()), comparator.version);
    if (comparator.given == 0) return std::nullopt;
    range.comparators_.push_back(std::move(comparator));
  }
  if (range.comparators_.empty()) return std::nullopt;
  return range;
}

}  // namespace novaphy
