// SPDX-License-Identifier: Apache-2.0
// The bases of solvers and collision pipelines. The classes themselves come from their plugins' extensions.
#include "bindings.hpp"
#include "novaphy/collision.hpp"
#include "novaphy/solver.hpp"

namespace novaphy::python {

void bind_solver(py::module_& m) {
  py::class_<ISolver, py::smart_holder>(m, "SolverBase", "Advances a model by one step. One thread a solver.")
      .def("step", &ISolver::step, py::arg("state_in"), py::arg("state_out"), py::arg("control").none(true),
           py::arg("contacts").none(true), py::arg("dt"), py::call_guard<py::gil_scoped_release>(),
           "state_out = state_in advanced by dt [s]. control and contacts may be None.")
      .def_property_readonly("name", &ISolver::name)
      .def_property_readonly("model", &ISolver::model)
      .def_property_readonly("device", [](const ISolver& self) { return self.model()->device; })
      .def_property_readonly("supports_graph_capture", &ISolver::supports_graph_capture)
      .def(
          "notify_model_changed", [](ISolver& self, const py::object&) { self.notify_model_changed(); },
          py::arg("flags") = py::none(), "Tells the solver that numbers of the model were assigned.")
      .def("__reduce__", [](const py::object& self) -> py::object {
        fail(ErrorKind::type, "cannot pickle '", std::string(py::str(py::type::of(self).attr("__name__"))),
             "': a solver holds no results; pickle its model and make a new one");
      });

  py::class_<ICollisionPipeline, py::smart_holder>(m, "CollisionPipelineBase",
                                                   "Generates contacts for one model. One thread a pipeline.")
      .def("contacts", &ICollisionPipeline::contacts, "Buffers of this pipeline's capacities.")
      .def("collide", &ICollisionPipeline::collide, py::arg("state"), py::arg("contacts"),
           py::call_guard<py::gil_scoped_release>(), "Rewrites `contacts` from the poses in `state`.")
      .def("__reduce__", [](const py::object& self) -> py::object {
        fail(ErrorKind::type, "cannot pickle '", std::string(py::str(py::type::of(self).attr("__name__"))),
             "': pickle its model and make a new one");
      });
}

}  // namespace novaphy::python
