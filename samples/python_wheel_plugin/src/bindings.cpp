// SPDX-License-Identifier: Apache-2.0
// Extension _acme_verlet: SolverVerlet, which users find in novaphy.solvers.
#include "novaphy/python.hpp"
#include "solver_verlet.hpp"

namespace py = pybind11;

NOVAPHY_PYTHON_MODULE(_acme_verlet, m) {
  py::class_<acme::SolverVerlet, novaphy::ISolver, py::smart_holder>(
      m, "SolverVerlet", "Particles under gravity and external forces by velocity Verlet.")
      .def(py::init([](std::shared_ptr<novaphy::Model> model) {
             novaphy::python::require_model(model, "SolverVerlet");
             return std::make_shared<acme::SolverVerlet>(std::move(model));
           }),
           py::arg("model"));
}
