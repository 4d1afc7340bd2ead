// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float32 that give the same bits on every machine, in the engine and in Nova's
// kernels.
//
// All go through float64 and round once: the error stays below 0.5001 units in the last place. No C library
// takes part, so results never depend on its version. Any thread.
#pragma once

#include "novaphy/export.hpp"
#include "novaphy/math.hpp"

namespace novaphy {

/// Radians; exact reduction for arguments of any size. NaN for infinities.
NOVAPHY_API float sin(float a) noexcept;
NOVAPHY_API float cos(float a) noexcept;
NOVAPHY_API float tan(float a) noexcept;
/// Arguments outside of [-1, 1] count as the nearer end, so that a rounded dot product of unit vectors is
/// harmless.
NOVAPHY_API float asin(float a) noexcept;
NOVAPHY_API float acos(float a) noexcept;
/// The angle of the point (x, y), from -pi to pi; zeros, their signs and infinities as in C.
NOVAPHY_API float atan2(float y, float x) noexcept;
NOVAPHY_API float exp(float a) noexcept;
/// log(0) is -infinity, of a number below zero NaN.
NOVAPHY_API float log(float a) noexcept;
/// All special cases as in C: pow(a, 0) = 1, NaN for a below zero and a fraction b.
NOVAPHY_API float pow(float a, float b) noexcept;
NOVAPHY_API float tanh(float a) noexcept;
/// Products for exponents from 0 to 8, so not always the bits of pow(float, float).
inline float pow(float a, int n) noexcept {
  return 0 <= n && n <= 8 ? power(a, n) : pow(a, static_cast<float>(n));
}
inline float atan(float a) noexcept {
  return atan2(a, 1.0f);
}

}  // namespace novaphy
