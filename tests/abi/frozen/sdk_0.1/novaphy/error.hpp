// SPDX-License-Identifier: Apache-2.0
// The one exception type that passes between libraries, and the check that raises it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "novaphy/export.hpp"

namespace novaphy {

/// What kind of mistake an Error reports. Python maps each to a class that is also a builtin:
/// value -> ValueError, index -> IndexError, type -> TypeError, and so on.
enum class ErrorKind : int {
  generic = 0,
  value,
  type,
  index,
  shape_mismatch,
  device_mismatch,
  unsupported_feature,
  plugin_not_available,
  degenerate_element,
  domain_check,
  capture,
  gradient_not_ready,
  stale_record,
  trace,
  parse,
  attribute,
};

/// Every error that NovaPhy reports to a caller. The text says who or where, what, and what to do.
class NOVAPHY_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : Error(ErrorKind::generic, message) {}
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ~Error() override;  // key function: one typeinfo for all libraries

  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Joins values into one text: text("row ", 3, " is ", value).
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// Throws Error(kind, text(parts...)).
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, text(parts...));
}

}  // namespace novaphy

/// Checks what a caller gave; on failure throws novaphy::Error of `kind` with the joined message parts.
#define NOVAPHY_REQUIRE(condition, kind, ...)          \
  do {                                                 \
    if (!(condition)) [[unlikely]]                     \
      ::novaphy::fail((kind), __VA_ARGS__);            \
  } while (false)
