// SPDX-License-Identifier: Apache-2.0
// C08 for a force.
#pragma once

#include <string>

#include "novaphy/force.hpp"

namespace novaphy::host {

/// What is wrong with a force, empty when nothing is: numbers that are not finite, and where Nova is there a
/// program that gives other bits than evaluate().
std::string try_force(IForce& force);

}  // namespace novaphy::host
