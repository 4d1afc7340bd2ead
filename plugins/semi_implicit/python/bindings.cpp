// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_semi_implicit: SolverSemiImplicit.
#include <pybind11/stl.h>

#include "force_names.hpp"
#include "novaphy/python.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "step_binding.hpp"

namespace py = pybind11;

namespace {

using namespace novaphy;

std::shared_ptr<SolverSemiImplicit> make_solver(std::shared_ptr<Model> model, double angular_damping,
                                                std::optional<double> friction_smoothing,
                                                std::optional<std::string> friction_law,
                                                double joint_attach_ke, double joint_attach_kd,
                                                bool enable_tri_contact, const python::GivenForces& forces) {
  python::require_model(model, "SolverSemiImplicit");
  SemiImplicitConfig config;
  config.angular_damping = static_cast<float>(angular_damping);
  if (friction_smoothing) config.friction_smoothing = static_cast<float>(*friction_smoothing);
  config.friction_law = std::move(friction_law);
  config.joint_attach_ke = static_cast<float>(joint_attach_ke);
  config.joint_attach_kd = static_cast<float>(joint_attach_kd);
  config.enable_tri_contact = enable_tri_contact;
  config.forces = python::force_names(forces, "SolverSemiImplicit");
  return std::make_shared<SolverSemiImplicit>(std::move(model), config);
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_semi_implicit, m) {
  py::class_<SolverSemiImplicit, ISolver, py::smart_holder> solver(
      m, "SolverSemiImplicit",
      "Semi-implicit Euler for particles under gravity, external forces and contact with shapes. Raises "
      "UnsupportedFeatureError for a model that holds anything else to step. A step may be done in place. "
      "forces: names of forces that plugins publish, added in this order after the solver's own; their "
      "parameters are "
      "arrays of the model. PluginNotAvailableError for a name that there is not.");
  solver.attr("__module__") = "novaphy.solvers";
  solver.def(py::init(&make_solver), py::arg("model"), py::kw_only(), py::arg("angular_damping") = 0.05,
             py::arg("friction_smoothing") = py::none(), py::arg("friction_law") = py::none(),
             py::arg("joint_attach_ke") = 1e4, py::arg("joint_attach_kd") = 100.0,
             py::arg("enable_tri_contact") = true, py::arg("forces") = py::tuple());
  python::def_step(solver);
  solver.def_property_readonly("supports_in_place", [](const SolverSemiImplicit&) { return true; });
  solver.def_property_readonly(
      "forces", [](const SolverSemiImplicit& self) { return self.config().forces; },
      "Names of the forces of other plugins, in the order of addition.");
}
