// SPDX-License-Identifier: Apache-2.0
// Engine arrays as tensors.
#include "novaphy/nova/tensor_views.hpp"

namespace nova {
namespace {

Tensor wanted(novaphy::DeviceArray& array, bool requires_grad) {
  Tensor tensor = view(array);
  if (requires_grad) tensor.set_requires_grad(true);
  return tensor;
}

}  // namespace

Tensor state_particle_q_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.particle_q, requires_grad);
}
Tensor state_particle_qd_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.particle_qd, requires_grad);
}
Tensor state_particle_f_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.particle_f, requires_grad);
}
Tensor state_body_q_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.body_q, requires_grad);
}
Tensor state_body_qd_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.body_qd, requires_grad);
}
Tensor state_body_f_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.body_f, requires_grad);
}
Tensor state_joint_q_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.joint_q, requires_grad);
}
Tensor state_joint_qd_tensor(novaphy::SimState& state, bool requires_grad) {
  return wanted(state.joint_qd, requires_grad);
}
Tensor model_tet_activation_tensor(novaphy::Model& model, bool requires_grad) {
  return wanted(model.particle_tet_activation, requires_grad);
}
Tensor model_tet_material_tensor(novaphy::Model& model, bool requires_grad) {
  return wanted(model.particle_tet_material, requires_grad);
}
Tensor model_tri_activation_tensor(novaphy::Model& model, bool requires_grad) {
  return wanted(model.particle_tri_activation, requires_grad);
}
Tensor model_tri_material_tensor(novaphy::Model& model, bool requires_grad) {
  return wanted(model.particle_tri_material, requires_grad);
}

}  // namespace nova
