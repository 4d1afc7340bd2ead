// SPDX-License-Identifier: Apache-2.0
// The tensor views and the point loss of novaphy.diff.
#include "bindings.hpp"
#include "novaphy/python.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/tensor_views.hpp"

namespace nova::python {

void bind_views(py::module_& m) {
  const auto of_state = [&](const char* name, Tensor (*view)(novaphy::SimState&, bool), const char* doc) {
    m.def(name, view, py::arg("state"), py::arg("requires_grad") = false, doc);
  };
  of_state("state_particle_q_tensor", &state_particle_q_tensor, "state.particle_q (P, 3) without a copy.");
  of_state("state_particle_qd_tensor", &state_particle_qd_tensor, "state.particle_qd (P, 3) without a copy.");
  of_state("state_particle_f_tensor", &state_particle_f_tensor, "state.particle_f (P, 3) without a copy.");
  of_state("state_body_q_tensor", &state_body_q_tensor, "state.body_q (B, 7) without a copy.");
  of_state("state_body_qd_tensor", &state_body_qd_tensor, "state.body_qd (B, 6) without a copy.");
  of_state("state_body_f_tensor", &state_body_f_tensor, "state.body_f (B, 6) without a copy.");
  of_state("state_joint_q_tensor", &state_joint_q_tensor, "state.joint_q (Q) without a copy.");
  of_state("state_joint_qd_tensor", &state_joint_qd_tensor, "state.joint_qd (D) without a copy.");

  const auto of_model = [&](const char* name, Tensor (*view)(novaphy::Model&, bool), const char* doc) {
    m.def(name, view, py::arg("model"), py::arg("requires_grad") = false, doc);
  };
  of_model("model_tet_activation_tensor", &model_tet_activation_tensor,
           "model.particle_tet_activation (T) without a copy.");
  of_model("model_tet_material_tensor", &model_tet_material_tensor,
           "model.particle_tet_material (T, 3) without a copy.");
  of_model("model_tri_activation_tensor", &model_tri_activation_tensor,
           "model.particle_tri_activation (F) without a copy.");
  of_model("model_tri_material_tensor", &model_tri_material_tensor,
           "model.particle_tri_material (F, 5) without a copy.");

  m.def("particle_point_loss_generated", &particle_point_loss_generated, py::arg("particle_q"),
        novaphy::python::integer("particle_index"), py::arg("target_x"), py::arg("target_y"),
        py::arg("target_z"),
        "Squared distance of one particle to a target, shape (1,), m^2. IndexError, ShapeMismatchError.");
  m.def("particle_centroid_generated", &particle_centroid_generated, py::arg("particle_q"),
        "The unweighted mean of positions (n, 3), shape (1, 3), m. ShapeMismatchError; ValueError for no "
        "particle.");
  m.def("vec3_point_loss_generated", &vec3_point_loss_generated, py::arg("point"), py::arg("target_x"),
        py::arg("target_y"), py::arg("target_z"),
        "Squared distance of a point (1, 3) or (3,) to a target, shape (1,), m^2. ShapeMismatchError.");
  m.def("clamp_f32_generated", &clamp_f32_generated, py::arg("x"), py::arg("lower"), py::arg("upper"),
        "x held within [lower, upper], for updates projected on bounds; can be captured. The gradient passes "
        "inside the bounds, and is 0 at them and outside. ValueError for bounds in the wrong order.");
  m.def(
      "assign", [](Tensor target, const Tensor& source) { assign(target.array(), source); },
      py::arg("target"), py::arg("source"),
      "A recorded write into an array of the engine or a view of it: later recorded steps read it, and its "
      "gradient flows back to `source`. ShapeMismatchError.");
}

}  // namespace nova::python
