// SPDX-License-Identifier: Apache-2.0
// Colour on a terminal, plain text everywhere else.
#pragma once

#include <string>

#include "platform/host/terminal.hpp"

namespace novaphy::host {

/// Words with a meaning in green, red and yellow, when stdout is a terminal.
class Colours {
 public:
  std::string good(const std::string& text) const { return in("32", text); }
  std::string bad(const std::string& text) const { return in("31", text); }
  std::string neutral(const std::string& text) const { return in("33", text); }

 private:
  std::string in(const char* code, const std::string& text) const {
    return on_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }
  bool on_ = platform::stdout_has_colours();
};

}  // namespace novaphy::host
