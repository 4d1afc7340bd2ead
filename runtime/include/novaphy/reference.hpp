// SPDX-License-Identifier: Apache-2.0
// What the plugin system says about itself: error codes, and the formats of manifest and host configuration.
#pragma once

#include <span>
#include <string>

#include "novaphy/export.hpp"

namespace novaphy {

/// One error code of the plugin system.
struct ErrorCode {
  const char* code;     ///< "NP203"
  const char* title;    ///< "requirement not found"
  const char* meaning;  ///< one sentence
  const char* remedy;   ///< what to do, one sentence
  const char* example;  ///< a text as it stands after "CODE path"
};

/// All of them, in the order of their numbers.
NOVAPHY_API std::span<const ErrorCode> error_codes() noexcept;

/// The JSON schema of novaphy.host.json; manifest_schema() of runtime.hpp is that of manifests.
NOVAPHY_API std::string host_config_schema();

/// The pages sdk/docs/errors.md and sdk/docs/manifest.md, Markdown.
NOVAPHY_API std::string errors_page();
NOVAPHY_API std::string manifest_page();

}  // namespace novaphy
