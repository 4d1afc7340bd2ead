// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels of elements: as operators, and in a step.
#include "diff/elements.hpp"

#include "diff/element_kernels.hpp"
#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

namespace {

void require_particle_rows(const char* who, const char* name, const nova::Tensor& tensor,
                           const Model& model) {
  NOVAPHY_REQUIRE(tensor.shape() == (Shape{model.particle_count, 3}), ErrorKind::shape_mismatch, who, ": ",
                  name, " has shape ", to_string(tensor.shape()), "; the model's particles want (",
                  model.particle_count, ", 3)");
}

/// particle_f as the start of the sum, in memory of its own.
nova::Tensor begin_sum(const char* who, const Model& model, const nova::Tensor& particle_q,
                       const nova::Tensor& particle_qd, const nova::Tensor& particle_f) {
  require_particle_rows(who, "particle_q", particle_q, model);
  require_particle_rows(who, "particle_qd", particle_qd, model);
  require_particle_rows(who, "particle_f", particle_f, model);
  return particle_f.clone();
}

nova::Operand given_or(const std::optional<nova::Tensor>& given, const DeviceArray& own) {
  return given ? nova::Operand(*given) : nova::Operand(own);
}

}  // namespace

nova::Tensor eval_spring_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                          const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                          const SpringTensors& springs) {
  nova::Tensor force = begin_sum("eval_spring_forces_generated", model, particle_q, particle_qd, particle_f);
  nova::launch(springs_kernel(),
               {particle_q, particle_qd, given_or(springs.ke, model.spring_stiffness),
                given_or(springs.kd, model.spring_damping),
                given_or(springs.rest_length, model.spring_rest_length), model.spring_indices},
               {force}, model.spring_count);
  return force;
}

nova::Tensor eval_triangle_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                            const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                            const nova::Tensor& tri_activations,
                                            const nova::Tensor& tri_materials) {
  nova::Tensor force =
      begin_sum("eval_triangle_forces_generated", model, particle_q, particle_qd, particle_f);
  nova::launch(triangles_kernel(),
               {particle_q, particle_qd, model.tri_poses, tri_materials, tri_activations, model.tri_indices},
               {force}, model.tri_count);
  return force;
}

nova::Tensor eval_bending_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                           const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                           const std::optional<nova::Tensor>& edge_bending_properties,
                                           const std::optional<nova::Tensor>& edge_rest_angle) {
  nova::Tensor force = begin_sum("eval_bending_forces_generated", model, particle_q, particle_qd, particle_f);
  nova::launch(bending_kernel(),
               {particle_q, particle_qd, given_or(edge_bending_properties, model.edge_bending_properties),
                given_or(edge_rest_angle, model.edge_rest_angle), model.edge_indices},
               {force}, model.edge_count);
  return force;
}

nova::Tensor eval_tetrahedra_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                              const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                              const nova::Tensor& tet_activations,
                                              const nova::Tensor& tet_materials) {
  nova::Tensor force =
      begin_sum("eval_tetrahedra_forces_generated", model, particle_q, particle_qd, particle_f);
  nova::launch(tetrahedra_kernel(),
               {particle_q, particle_qd, model.tet_poses, tet_materials, tet_activations, model.tet_indices},
               {force}, model.tet_count);
  return force;
}

bool SteppedElements::any(const Model& model) const {
  return model.spring_count > 0 || model.edge_count > 0 || (triangles && model.tri_count > 0) ||
         (tetrahedra && model.tet_count > 0);
}

void subtract_element_forces(const Model& model, const SteppedElements& stepped, const DeviceArray& q,
                             const DeviceArray& qd, const Activations& activations,
                             const DeviceArray& total) {
  if (model.spring_count > 0)
    nova::launch(
        springs_kernel(),
        {q, qd, model.spring_stiffness, model.spring_damping, model.spring_rest_length, model.spring_indices},
        {total}, model.spring_count);
  if (stepped.triangles && model.tri_count > 0)
    nova::launch(
        triangles_kernel(),
        {q, qd, model.tri_poses, model.particle_tri_material, activations.triangles, model.tri_indices},
        {total}, model.tri_count);
  if (model.edge_count > 0)
    nova::launch(bending_kernel(),
                 {q, qd, model.edge_bending_properties, model.edge_rest_angle, model.edge_indices}, {total},
                 model.edge_count);
  if (stepped.tetrahedra && model.tet_count > 0)
    nova::launch(
        tetrahedra_kernel(),
        {q, qd, model.tet_poses, model.particle_tet_material, activations.tetrahedra, model.tet_indices},
        {total}, model.tet_count);
}

}  // namespace novaphy::semi_implicit
