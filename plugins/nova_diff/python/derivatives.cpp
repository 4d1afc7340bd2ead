// SPDX-License-Identifier: Apache-2.0
// What novaphy/_derivatives.py stands on: derivatives along a closed tape.
#include "novaphy/nova/derivatives.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <stack>
#include <vector>

#include "bindings.hpp"
#include "novaphy/nova/anomaly.hpp"

namespace nova::python {
namespace {

using Tensors = std::vector<Tensor>;

Tensors run_jvp(Tape& tape, const Tensors& inputs, const Tensors& tangents, const Tensors& outputs) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  return jvp(tape, inputs, tangents, outputs);
}

Tensors run_vjp(Tape& tape, const Tensor& output, const Tensor& seed, const Tensors& inputs) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  return vjp(tape, output, seed, inputs);
}

Tensors run_hvp(Tape& tape, const Tensor& loss, const Tensors& params, const Tensors& direction) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  return hvp(tape, loss, params, direction);
}

/// `with nova.anomaly():`, also within itself.
struct AnomalyContext {
  std::stack<std::unique_ptr<Anomaly>> open;
};

}  // namespace

void bind_derivatives(py::module_& m) {
  m.def("_jvp", &run_jvp, py::arg("tape"), py::arg("inputs"), py::arg("tangents"), py::arg("outputs"));
  m.def("_vjp", &run_vjp, py::arg("tape"), py::arg("output"), py::arg("seed"), py::arg("inputs"));
  m.def("_hvp", &run_hvp, py::arg("tape"), py::arg("loss"), py::arg("params"), py::arg("direction"));

  py::class_<AnomalyContext>(
      m, "anomaly",
      "In a 'with nova.anomaly():' block the first launch or backward of this thread that "
      "writes a number that is not finite raises NovaPhyError, naming launch, output, row "
      "and the operation that made it. Some hundred times slower; for finding mistakes.")
      .def(py::init<>())
      .def("__enter__", [](AnomalyContext& self) { self.open.push(std::make_unique<Anomaly>()); })
      .def("__exit__", [](AnomalyContext& self, const py::args&) {
        if (!self.open.empty()) self.open.pop();
      });
}

}  // namespace nova::python
