// SPDX-License-Identifier: Apache-2.0
// Materials of tetrahedra from fewer parameters.
#pragma once

#include "novaphy/nova/tensor.hpp"

namespace novaphy::semi_implicit {

/// (tet_count, 3): k_mu and k_lambda [Pa] from `material_params`, either two numbers that all tetrahedra
/// share, or two for each; k_damp from the last column of `base_tet_materials` (tet_count, 3). Recorded on
/// this thread's open tape. The gradient of shared parameters is the sum over the tetrahedra. Throws
/// Error(value) for another number of parameters, Error(shape_mismatch), Error(type).
NOVAPHY_API nova::Tensor assign_tet_materials_generated(const nova::Tensor& material_params,
                                                        const nova::Tensor& base_tet_materials,
                                                        std::int64_t tet_count);

}  // namespace novaphy::semi_implicit
