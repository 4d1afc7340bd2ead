// SPDX-License-Identifier: Apache-2.0
// Anomaly: finds the operation behind the first value or cotangent that is not finite.
#pragma once

#include "novaphy/export.hpp"

namespace nova {

/// While one lives, every launch and every adjoint of this thread is also evaluated row by row. The first that
/// writes a number that is not finite throws Error, naming the launch, the output, the row and the operation
/// that made it from finite numbers (or the input that held it), after it has run. Custom operations are
/// checked for what they write forward. Some hundred times slower; costs nothing when none lives.
class NOVAPHY_API Anomaly {
 public:
  Anomaly() noexcept;
  ~Anomaly();
  Anomaly(const Anomaly&) = delete;
  Anomaly& operator=(const Anomaly&) = delete;
};

}  // namespace nova
