// SPDX-License-Identifier: Apache-2.0
// MAJOR.MINOR.PATCH and ranges such as ">=0.1 <0.2".
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace novaphy {

struct Version {
  std::array<int, 3> parts{};
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// "1.2.3" and nothing else.
std::optional<Version> parse_version(std::string_view text);

/// Comparators that must all hold; none means every version ("*"). "=0.1" holds for every 0.1.x.
class VersionRange {
 public:
  bool contains(const Version& version) const;
  /// The text as it was written.
  const std::string& text() const noexcept { return text_; }
  bool is_any() const noexcept { return comparators_.empty(); }

 private:
  friend std::optional<VersionRange> parse_range(std::string_view text);
  struct Comparator {
    std::string op;
    Version version;
    int given = 3;  ///< how many parts were written
  };
  std::string text_ = "*";
  std::vector<Comparator> comparators_;
};

/// "*", or comparators >= > <= < = on X[.Y[.Z]] separated by spaces.
std::optional<VersionRange> parse_range(std::string_view text);

}  // namespace novaphy
