// SPDX-License-Identifier: Apache-2.0
// A plugin's options: the manifest's `config` section describes them, the host configuration sets them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "manifest/problems.hpp"

namespace novaphy {

/// Why `value` does not fit the description of an option ("0 is below min 1"); empty when it fits.
std::string option_misfit(const nlohmann::json& description, const nlohmann::json& value);

/// Checks the manifest's `config` section: each default must fit its description (NP116).
void check_option_descriptions(const nlohmann::json& config, const std::string& pointer, Problems& problems);

/// Every option's default.
nlohmann::json default_options(const nlohmann::json& config);

}  // namespace novaphy
