// SPDX-License-Identifier: Apache-2.0
@file python@
// Extension _@name@: Solver@Name@, which users find in novaphy.solvers.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "@name@/solver_@name@.hpp"
#include "novaphy/python.hpp"

namespace py = pybind11;

namespace {

// None means the plugin's own option, as the host configured it
std::shared_ptr<@name@::Solver@Name@> make_solver(std::shared_ptr<novaphy::Model> model, std::optional<double> drag) {
  novaphy::python::require_model(model, "Solver@Name@");
  const std::string given = drag ? "{\"drag\": " + std::to_string(*drag) + "}" : std::string();
  return std::make_shared<@name@::Solver@Name@>(std::move(model),
                                                @name@::read_options(given, @name@::configured()));
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_@name@, m) {
  py::class_<@name@::Solver@Name@, novaphy::ISolver, py::smart_holder>(
      m, "Solver@Name@", "Particles under gravity, external forces and the drag of air.")
      .def(py::init(&make_solver), py::arg("model"), py::kw_only(), py::arg("drag") = py::none())
      .def_property_readonly("drag", [](const @name@::Solver@Name@& self) { return self.options().drag; });
}
