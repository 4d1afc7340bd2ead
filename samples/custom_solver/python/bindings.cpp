// SPDX-License-Identifier: Apache-2.0
// Extension _acme_pbd: SolverPBD, which users find in novaphy.solvers.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "acme_pbd/solver_pbd.hpp"
#include "novaphy/python.hpp"

namespace py = pybind11;

namespace {

// None means the plugin's own option, as the host configured it
std::shared_ptr<acme::SolverPBD> make_solver(std::shared_ptr<novaphy::Model> model, std::optional<int> iterations,
                                             const std::optional<std::string>& stiffness,
                                             std::optional<double> damping) {
  novaphy::python::require_model(model, "SolverPBD");
  acme::PbdConfig config = acme::configured();
  if (stiffness) config.rigid = acme::is_rigid(*stiffness);
  if (iterations) config.iterations = *iterations;
  if (damping) config.damping = static_cast<float>(*damping);
  return std::make_shared<acme::SolverPBD>(std::move(model), config);
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_acme_pbd, m) {
  py::class_<acme::SolverPBD, novaphy::ISolver, py::smart_holder>(
      m, "SolverPBD", "Particles by position-based dynamics; the model's springs are distance constraints.")
      .def(py::init(&make_solver), py::arg("model"), py::kw_only(), py::arg("iterations") = py::none(),
           py::arg("stiffness") = py::none(), py::arg("damping") = py::none())
      .def_property_readonly("iterations", [](const acme::SolverPBD& self) { return self.config().iterations; })
      .def_property_readonly("stiffness",
                             [](const acme::SolverPBD& self) { return acme::stiffness_name(self.config().rigid); })
      .def_property_readonly("damping", [](const acme::SolverPBD& self) { return self.config().damping; });
}
