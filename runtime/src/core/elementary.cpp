// SPDX-License-Identifier: Apache-2.0
// The elementary functions for one float32.
#include "novaphy/elementary.hpp"

#include <cstdint>

namespace novaphy {
namespace {
#include "novaphy/elementary_sequences.inc"
}

#define NOVAPHY_ONE(name)                                                   \
  float name(float a) noexcept {                                            \
    return static_cast<float>(elementary::name##_wide<elementary::One>(a)); \
  }
NOVAPHY_ONE(sin)
NOVAPHY_ONE(cos)
NOVAPHY_ONE(tan)
NOVAPHY_ONE(asin)
NOVAPHY_ONE(acos)
NOVAPHY_ONE(exp)
NOVAPHY_ONE(tanh)
#undef NOVAPHY_ONE
float log(float a) noexcept {
  return static_cast<float>(elementary::log_signed<elementary::One>(a));
}
float atan2(float y, float x) noexcept {
  return static_cast<float>(elementary::atan2_wide<elementary::One>(y, x));
}
float pow(float a, float b) noexcept {
  return static_cast<float>(elementary::pow_wide<elementary::One>(a, b));
}

}  // namespace novaphy
