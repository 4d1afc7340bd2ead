// SPDX-License-Identifier: Apache-2.0
// The findings about one file, gathered so that a reader sees all of them together.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "novaphy/runtime.hpp"

namespace novaphy {

/// The text as one line of valid UTF-8: control characters become "\n" or "\u001b", stray bytes U+FFFD. What
/// strangers wrote into a manifest or an error message must not break a report.
std::string printable(const std::string& text);

/// How much of a stranger's value a message repeats, in bytes.
inline constexpr std::size_t kMaxExcerpt = 80;
/// The text, cut to kMaxExcerpt bytes where it is longer: "abc...".
std::string excerpt(const std::string& text);

/// Collects PluginProblems about one file.
class Problems {
 public:
  explicit Problems(std::string path) : path_(std::move(path)) {}

  void add(std::string code, const std::string& pointer, const std::string& text) {
    list_.push_back({std::move(code), path_, printable(pointer), printable(text)});
  }
  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  const std::string& path() const noexcept { return path_; }
  const std::vector<PluginProblem>& list() const noexcept { return list_; }
  std::vector<PluginProblem> take() { return std::move(list_); }

 private:
  std::string path_;
  std::vector<PluginProblem> list_;
};

/// All lines, one below the other.
std::string joined_lines(const std::vector<PluginProblem>& problems);
/// "a, b, c".
std::string joined(const std::vector<std::string>& items, const char* separator = ", ");
/// One segment of a JSON pointer: "~" and "/" escaped.
std::string pointer_segment(const std::string& key);

}  // namespace novaphy
