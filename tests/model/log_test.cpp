// SPDX-License-Identifier: Apache-2.0
// The log: levels and sinks.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "novaphy/log.hpp"

namespace novaphy {
namespace {

struct Line {
  LogLevel level;
  std::string message;
};

/// Collects lines as long as it lives.
class Listener {
 public:
  Listener() {
    set_log_sink(
        [](void* context, LogLevel level, const char* message) {
          static_cast<Listener*>(context)->lines.push_back({level, message});
        },
        this);
  }
  ~Listener() {
    set_log_sink(nullptr, nullptr);
    set_log_level(LogLevel::warn);
  }
  std::vector<Line> lines;
};

}  // namespace

TEST_CASE("a sink receives the lines that pass the level") {
  Listener listener;
  CHECK(log_level() == LogLevel::warn);
  log(LogLevel::info, "quiet");
  log(LogLevel::warn, "a {} line");
  set_log_level(LogLevel::debug);
  log(LogLevel::debug, std::string_view("cut here", 3));
  set_log_level(LogLevel::off);
  log(LogLevel::error, "silence");
  REQUIRE(listener.lines.size() == 2);
  CHECK(listener.lines[0].message == "a {} line");
  CHECK(listener.lines[0].level == LogLevel::warn);
  CHECK(listener.lines[1].message == "cut");
}

TEST_CASE("a line of the log is one line of text: control characters are escaped, letters stay") {
  Listener listener;
  log(LogLevel::warn, "two\nlines, \033[31m red, \x7f, \xc2\x9b and \xc3\xa4");
  log_of("a_module", LogLevel::error, "tab\tand \xff");
  REQUIRE(listener.lines.size() == 2);
  CHECK(listener.lines[0].message == "two\\nlines, \\u001b[31m red, \\u007f, \\u009b and \xc3\xa4");
  CHECK(listener.lines[1].message == "a_module: tab\\tand \xef\xbf\xbd");
}

}  // namespace novaphy
