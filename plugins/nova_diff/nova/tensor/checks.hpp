// SPDX-License-Identifier: Apache-2.0
// What the operations on tensors ask of their operands.
#pragma once

#include <string>

#include "novaphy/nova/tensor.hpp"

namespace nova {

inline void require_float(const char* operation, const Tensor& tensor) {
  NOVAPHY_REQUIRE(tensor.dtype() == novaphy::DType::f32, novaphy::ErrorKind::type, "nova.", operation,
                  ": the tensor is ", to_string(tensor.dtype()), ", float32 is wanted");
}

/// "(289, 3) of 'particle_q' of state #0", or "(2)" for a tensor without a name.
inline std::string shape_text(const Tensor& tensor) {
  const bool has_name = tensor.storage() && !tensor.storage()->label().name.empty();
  return has_name ? novaphy::text(to_string(tensor.shape()), " of ", to_string(tensor.storage()->label()))
                  : to_string(tensor.shape());
}

}  // namespace nova
