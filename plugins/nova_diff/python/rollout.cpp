// SPDX-License-Identifier: Apache-2.0
// What novaphy.diff.Rollout stands on: a rollout whose callbacks are Python's.
#include "novaphy/nova/rollout.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "novaphy/error.hpp"
#include "novaphy/python.hpp"

namespace nova::python {
namespace {

using novaphy::Contacts;
using novaphy::Control;
using novaphy::ErrorKind;
using novaphy::ISolver;

/// Below this many particles releasing the GIL costs more than the step.
constexpr int kFewParticles = 2048;

struct PythonStep {
  py::object solver, control, contacts, before_step;
  double dt = 0;
  ISolver* engine_solver = nullptr;  // null for one written in Python
  Control* control_pointer = nullptr;
  Contacts* contacts_pointer = nullptr;

  void operator()(std::size_t step, const RolloutState& in, const RolloutState& out) const {
    in->clear_forces();
    if (!before_step.is_none()) before_step(step, in, control, contacts);
    if (engine_solver == nullptr) {
      solver.attr("step")(in, out, control, contacts, dt);
      return;
    }
    std::optional<py::gil_scoped_release> release;
    if (in->particle_count() > kFewParticles) release.emplace();
    engine_solver->step(*in, *out, control_pointer, contacts_pointer, static_cast<float>(dt));
  }
};

template <class T>
T* pointer_or_null(const py::object& object) {
  return object.is_none() ? nullptr : object.cast<T*>();
}

std::unique_ptr<Rollout> make_rollout(std::shared_ptr<novaphy::Model> model, std::size_t steps,
                                      py::object solver, py::object control, py::object contacts, double dt,
                                      py::object before_step, py::object losses, py::object progress,
                                      std::size_t budget) {
  novaphy::python::require_model(model, "novaphy.diff.Rollout");
  PythonStep step{std::move(solver), std::move(control), std::move(contacts), std::move(before_step), dt};
  if (py::isinstance<ISolver>(step.solver)) step.engine_solver = step.solver.cast<ISolver*>();
  step.control_pointer = pointer_or_null<Control>(step.control);
  step.contacts_pointer = pointer_or_null<Contacts>(step.contacts);
  RolloutCallbacks calls;
  calls.step = std::move(step);
  calls.losses = [losses = std::move(losses)](std::size_t done, const RolloutState& state) {
    return losses(done, state).cast<std::vector<Tensor>>();
  };
  calls.progress = [progress = std::move(progress)](std::size_t done, std::size_t total) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(done, total);
  };
  return std::make_unique<Rollout>(std::move(model), steps, std::move(calls), budget);
}

}  // namespace

void bind_rollout(py::module_& m) {
  py::class_<Rollout>(m, "RolloutCore", "What novaphy.diff.Rollout stands on.")
      .def(py::init(&make_rollout), py::arg("model"), py::arg("steps"), py::arg("solver"), py::arg("control"),
           py::arg("contacts"), py::arg("dt"), py::arg("before_step"), py::arg("losses"), py::arg("progress"),
           py::arg("budget"))
      .def("roll", &Rollout::roll, py::arg("start"))
      .def("backward", &Rollout::backward)
      .def("states", &Rollout::states)
      .def("memory_bytes", &Rollout::memory_bytes)
      .def("estimate", &Rollout::estimate)
      .def("release", &Rollout::release);
}

}  // namespace nova::python
