// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_semi_implicit: SolverSemiImplicit.
#include <pybind11/stl.h>

#include "force_names.hpp"
#include "novaphy/python.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"
#include "novaphy/semi_implicit/stability.hpp"
#include "step_binding.hpp"

namespace py = pybind11;

namespace {

using namespace novaphy;

std::shared_ptr<SolverSemiImplicit> make_solver(std::shared_ptr<Model> model, double angular_damping,
                                                std::optional<double> friction_smoothing,
                                                std::optional<std::string> friction_law,
                                                double joint_attach_ke, double joint_attach_kd,
                                                bool enable_tri_contact, bool check_stability, bool check_finite,
                                                const python::GivenForces& forces) {
  python::require_model(model, "SolverSemiImplicit");
  SemiImplicitConfig config;
  config.angular_damping = static_cast<float>(angular_damping);
  if (friction_smoothing) config.friction_smoothing = static_cast<float>(*friction_smoothing);
  config.friction_law = std::move(friction_law);
  config.joint_attach_ke = static_cast<float>(joint_attach_ke);
  config.joint_attach_kd = static_cast<float>(joint_attach_kd);
  config.enable_tri_contact = enable_tri_contact;
  config.check_stability = check_stability, config.check_finite = check_finite;
  config.forces = python::force_names(forces, "SolverSemiImplicit");
  return std::make_shared<SolverSemiImplicit>(std::move(model), config);
}

void bind_stability(py::module_& m) {
  using semi_implicit::StabilityReport;
  py::class_<StabilityReport> report(
      m, "StabilityReport",
      "What stability_report() found. print(report) shows report.text.");
  report.attr("__module__") = "novaphy.diff";
  report.def_readonly("dt", &StabilityReport::dt, "The step that was asked about, s.")
      .def_readonly("max_dt", &StabilityReport::max_dt, "The longest stable step, s; inf where nothing bounds it.")
      .def_property_readonly(
          "limits",
          [](const StabilityReport& self) {
            py::dict out;
            for (const auto& limit : self.limits) out[py::str(limit.name)] = limit.max_dt;
            return out;
          },
          "The longest step [s] by name: elastic, damping, elements (both together), contact, friction.")
      .def_property_readonly(
          "worst_element",
          [](const StabilityReport& self) -> py::object {
            return self.worst_element.empty() ? py::object(py::none()) : py::object(py::str(self.worst_element));
          },
          "The element that decides, as 'tetrahedron 40'; None where there is none.")
      .def_readonly("ok", &StabilityReport::ok, "Whether the scene can be simulated with this dt.")
      .def_readonly("text", &StabilityReport::text, "All of it in sentences, with what to change.")
      .def("__str__", [](const StabilityReport& self) { return self.text; })
      .def("__repr__", [](const StabilityReport& self) {
        return text("StabilityReport(dt=", self.dt, ", max_dt=", self.max_dt, ", ok=", self.ok ? "True" : "False", ")");
      });
  m.def(
      "stability_report",
      [](const std::shared_ptr<Model>& model, double dt, const SimState* state) {
        python::require_model(model, "stability_report");
        return semi_implicit::stability_report(*model, static_cast<float>(dt), state);
      },
      py::arg("model"), py::arg("dt"), py::arg("state") = py::none(),
      "StabilityReport of the semi-implicit solvers with steps of dt [s]: the limits of elements (in the positions of "
      "state, None = the model's), of contact with shapes, of the material itself (k_mu < 8 k_lambda), and particles "
      "that overlap at rest. ValueError for a dt that is not positive.");
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_semi_implicit, m) {
  py::class_<SolverSemiImplicit, ISolver, py::smart_holder> solver(
      m, "SolverSemiImplicit",
      "Semi-implicit Euler for particles under gravity, external forces, springs, triangles, bending edges, "
      "tetrahedra, and contact with each other, with triangles and with shapes. Raises "
      "UnsupportedFeatureError for a model that holds anything else to step. A step may be done in place. "
      "forces: names of forces that plugins publish, added in this order after the solver's own; their "
      "parameters are "
      "arrays of the model. PluginNotAvailableError for a name that there is not. check_stability: a warning before "
      "the first step with a dt that novaphy.diff.stability_report() finds too long, once for a model and dt. "
      "check_finite: DomainCheckError at the first step after which a particle is not finite, with its number.");
  solver.attr("__module__") = "novaphy.solvers";
  solver.def(py::init(&make_solver), py::arg("model"), py::kw_only(), py::arg("angular_damping") = 0.05,
             py::arg("friction_smoothing") = py::none(), py::arg("friction_law") = py::none(),
             py::arg("joint_attach_ke") = 1e4, py::arg("joint_attach_kd") = 100.0,
             py::arg("enable_tri_contact") = true, py::arg("check_stability") = true,
             py::arg("check_finite") = true, py::arg("forces") = py::tuple());
  python::def_step(solver);
  solver.def_property_readonly("supports_in_place", [](const SolverSemiImplicit&) { return true; });
  solver.def_property_readonly(
      "forces", [](const SolverSemiImplicit& self) { return self.config().forces; },
      "Names of the forces of other plugins, in the order of addition.");
  bind_stability(m);
}
