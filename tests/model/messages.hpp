// SPDX-License-Identifier: Apache-2.0
// What a call says when it fails: messages are part of the interface, so tests read them whole.
#pragma once

#include <limits>
#include <string>

#include "novaphy/error.hpp"

namespace novaphy {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Failure {
  ErrorKind kind{};
  std::string message;
};

/// The error that `call` throws; an empty message when it throws none.
template <class Call>
Failure failure_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

}  // namespace novaphy

/// `expression` throws an Error of `error_kind` that says exactly `text`.
#define CHECK_FAILS(expression, error_kind, text)                                                \
  do {                                                                                           \
    const ::novaphy::Failure failure = ::novaphy::failure_of([&] { expression; });               \
    CHECK(failure.message == (text));                                                            \
    CHECK(static_cast<int>(failure.kind) == static_cast<int>(::novaphy::ErrorKind::error_kind)); \
  } while (false)
