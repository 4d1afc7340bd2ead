// SPDX-License-Identifier: Apache-2.0
// Differentiable forces of springs and tetrahedra on particles.
#pragma once

#include <optional>

#include "novaphy/model.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor.hpp"

namespace novaphy::semi_implicit {

/// particle_f [N] plus the forces of all tetrahedra (formula/tetrahedron.h), a new tensor (P, 3). Positions
/// [m], velocities [m/s] and forces are (P, 3), `tet_activations` (T), `tet_materials` (T, 3) = k_mu [Pa],
/// k_lambda [Pa], k_damp. Forces are added element by element in the order of the model. Recorded on this
/// thread's open tape. Throws Error(shape_mismatch) naming the argument, Error(type), Error(device_mismatch).
NOVAPHY_API nova::Tensor eval_tetrahedra_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                                          const nova::Tensor& particle_qd,
                                                          const nova::Tensor& particle_f,
                                                          const nova::Tensor& tet_activations,
                                                          const nova::Tensor& tet_materials);

/// Stiffness [N/m], damping [N s/m] and rest length [m] of each spring, (S); empty = the model's array.
struct SpringTensors {
  std::optional<nova::Tensor> ke{}, kd{}, rest_length{};
};

/// The same for all springs (formula/spring.h).
NOVAPHY_API nova::Tensor eval_spring_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                                      const nova::Tensor& particle_qd,
                                                      const nova::Tensor& particle_f,
                                                      const SpringTensors& springs = {});

/// The kernels themselves. tetrahedra: x, v, rest, material, activation, tet -> f; springs: x, v, ke, kd,
/// rest_length, spring -> f.
NOVAPHY_API const nova::Kernel& tetrahedra_kernel();
NOVAPHY_API const nova::Kernel& springs_kernel();

}  // namespace novaphy::semi_implicit
