// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_collision_diff: the differentiable contact operator of novaphy.diff.
#include "../diff/soft_contacts.hpp"
#include "novaphy/python.hpp"

namespace py = pybind11;

NOVAPHY_PYTHON_MODULE(_novaphy_collision_diff, m) {
  // registers the class that is taken and returned; an accessor alone would look nothing up
  const py::object tensor = py::module_::import("novaphy.nova").attr("Tensor");
  m.def(
      "eval_static_particle_shape_contact_forces_generated",
      [](const novaphy::Model& model, const nova::Tensor& particle_q, const nova::Tensor& particle_qd,
         const nova::Tensor& particle_f, double soft_contact_margin, bool ignore_body_shapes) {
        return novaphy::collision::eval_static_particle_shape_contact_forces_generated(
            model, particle_q, particle_qd, particle_f, static_cast<float>(soft_contact_margin),
            ignore_body_shapes);
      },
      py::arg("model"), py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"),
      py::arg("soft_contact_margin") = 0.0, py::kw_only(), py::arg("ignore_body_shapes") = false,
      "particle_f plus the contact forces of shapes of the world, (P, 3) [N].");
}
