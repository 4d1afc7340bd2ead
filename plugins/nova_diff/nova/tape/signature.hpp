// SPDX-License-Identifier: Apache-2.0
// What a tape must know about the arguments of a launch, whether a kernel or a custom operation.
#pragma once

#include <cstdint>

namespace nova {

/// Bit i of a mask stands for input or output i.
struct LaunchSignature {
  std::uint32_t inputs = 0, outputs = 0;
  std::uint64_t differentiable = 0;  ///< inputs
  std::uint64_t float_inputs = 0;
  std::uint64_t float_outputs = 0;
  std::uint64_t adding_outputs = 0;  ///< outputs whose old content stays in the sum
};

}  // namespace nova
