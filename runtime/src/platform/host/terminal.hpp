// SPDX-License-Identifier: Apache-2.0
// Whether somebody looks at the output.
#pragma once

namespace novaphy::platform {

/// True when stdout is a terminal that shows colours; false for pipes and files, and where NO_COLOR is set.
bool stdout_has_colours();

}  // namespace novaphy::platform
