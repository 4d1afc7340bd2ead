// SPDX-License-Identifier: Apache-2.0
// Options of the solver as the factory receives them.
#pragma once

#include <string_view>

#include "novaphy/semi_implicit/solver_semi_implicit.hpp"

namespace novaphy::semi_implicit {

/// Reads a JSON object, "" = defaults. Throws Error(parse) on bad JSON, Error(value) on an unknown key or a wrong type.
NOVAPHY_API SemiImplicitConfig config_from_json(std::string_view json);

}  // namespace novaphy::semi_implicit
