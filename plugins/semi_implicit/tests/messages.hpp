// SPDX-License-Identifier: Apache-2.0
// Small helpers of the tests: error texts, equal bits, the log.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "novaphy/array.hpp"
#include "novaphy/error.hpp"
#include "novaphy/log.hpp"

namespace novaphy::test {

inline bool same_bits(const DeviceArray& a, const DeviceArray& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.storage()->data(), b.storage()->data(), a.bytes()) == 0;
}

/// The text of the error that `call` must raise.
template <class Call>
std::string message_of(Call&& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

/// Collects log lines while it lives.
class LogLines {
 public:
  LogLines() {
    set_log_sink([](void* self, LogLevel,
                    const char* line) { static_cast<LogLines*>(self)->lines.emplace_back(line); },
                 this);
  }
  ~LogLines() { set_log_sink(nullptr, nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> lines;
};

}  // namespace novaphy::test
