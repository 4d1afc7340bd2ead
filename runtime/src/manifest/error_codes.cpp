// SPDX-License-Identifier: Apache-2.0
// The table of error codes and the page that it makes.
#include <fmt/format.h>

#include "novaphy/reference.hpp"

namespace novaphy {
namespace {

constexpr ErrorCode kErrorCodes[] = {
#define NOVAPHY_ERROR_CODE(code, title, meaning, remedy, example) {code, title, meaning, remedy, example},
#include "manifest/error_codes.inc"
#undef NOVAPHY_ERROR_CODE
};

const char* heading_of(char family) {
  switch (family) {
    case '1':
      return "NP1xx: one manifest";
    case '2':
      return "NP2xx: the plan, made from all manifests before a library is opened";
    case '3':
      return "NP3xx: loading a library";
    default:
      return "NP4xx: the host configuration and the command line";
  }
}

constexpr const char* kErrorsIntroduction = R"(# Error codes of the plugin system

<!-- Written by `novaphy-host errors`; change runtime/src/manifest/error_codes.inc instead. -->

Every problem is one line, `CODE path#/place/in/the/file: what is wrong; what to do`, and all problems of one file are
reported together. `novaphy-host list` shows them, `novaphy-host why NAME` shows how a plugin came to its state, and
`novaphy-host errors CODE` prints one row of this page. In the examples `...` stands for what differs from case to case.
)";

}  // namespace

std::span<const ErrorCode> error_codes() noexcept {
  return kErrorCodes;
}

std::string errors_page() {
  std::string out = kErrorsIntroduction;
  char family = '0';
  for (const ErrorCode& row : kErrorCodes) {
    if (row.code[2] != family) out += fmt::format("\n## {}\n", heading_of(family = row.code[2]));
    const std::string separator = row.example[0] == '#' ? "" : ": ";
    out += fmt::format("\n### {}: {}\n\n{}\n{}\n\n```text\n{} FILE{}{}\n```\n", row.code, row.title,
                       row.meaning, row.remedy, row.code, separator, row.example);
  }
  return out;
}

}  // namespace novaphy
