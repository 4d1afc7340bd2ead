// SPDX-License-Identifier: Apache-2.0
// solver.step as Python calls it, for both solvers: as few conversions as can be.
#pragma once

#include <optional>

#include "novaphy/python.hpp"
#include "novaphy/solver.hpp"

namespace novaphy::python {

/// Below this many particles releasing the GIL costs more than the step.
constexpr int kFewParticles = 2048;

template <class Solver>
void step(Solver& self, SimState& state_in, SimState& state_out, const Control* control,
          const Contacts* contacts, double dt) {
  std::optional<py::gil_scoped_release> release;
  if (state_in.particle_count() > kFewParticles) release.emplace();
  self.step(state_in, state_out, control, contacts, static_cast<float>(dt));
}

template <class Class>
void def_step(Class& solver) {
  solver.def("step", &step<typename Class::type>, py::arg("state_in"), py::arg("state_out"),
             py::arg("control").none(true), py::arg("contacts").none(true), py::arg("dt"),
             "state_out = state_in advanced by dt [s]; state_in then holds the total force. control and "
             "contacts may be None.");
}

}  // namespace novaphy::python
