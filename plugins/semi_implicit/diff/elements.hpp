// SPDX-License-Identifier: Apache-2.0
// Differentiable forces of springs, triangles, bending edges and tetrahedra on particles.
#pragma once

#include <optional>

#include "novaphy/model.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"

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

/// The same for all triangles (formula/triangle.h). `tri_activations` is (F), `tri_materials` (F, 5) = ke, ka
/// [N/m], kd [N s/m], drag, lift [N s^2/m^4].
NOVAPHY_API nova::Tensor eval_triangle_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                                        const nova::Tensor& particle_qd,
                                                        const nova::Tensor& particle_f,
                                                        const nova::Tensor& tri_activations,
                                                        const nova::Tensor& tri_materials);

/// The same for all bending edges (formula/bending.h). `edge_bending_properties` is (E, 2) = ke, kd,
/// `edge_rest_angle` (E) [rad]; empty = the model's arrays.
NOVAPHY_API nova::Tensor eval_bending_forces_generated(
    const Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
    const nova::Tensor& particle_f, const std::optional<nova::Tensor>& edge_bending_properties = {},
    const std::optional<nova::Tensor>& edge_rest_angle = {});

/// The kinds of elements that a step can leave out.
struct SteppedElements {
  bool triangles = true, tetrahedra = true;
  bool any(const Model& model) const;
};

/// Subtracts from `total` (P, 3) what the elements of the model take from their particles, in the order of
/// the step: springs, triangles, bending edges, tetrahedra.
void subtract_element_forces(const Model& model, const SteppedElements& stepped, const DeviceArray& q,
                             const DeviceArray& qd, const Activations& activations, const DeviceArray& total);

}  // namespace novaphy::semi_implicit
