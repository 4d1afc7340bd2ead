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

/// Python's callbacks, held while a call runs and no longer: they may know the rollout, and such a circle
/// would never be freed.
struct Calls {
  py::object before_step = py::none(), losses = py::none(), progress = py::none();
};

struct PythonStep {
  py::object solver, control, contacts;
  double dt = 0;
  std::shared_ptr<const Calls> calls;
  ISolver* engine_solver = nullptr;  // null for one written in Python
  Control* control_pointer = nullptr;
  Contacts* contacts_pointer = nullptr;

  void operator()(std::size_t step, const RolloutState& in, const RolloutState& out) const {
    in->clear_forces();
    if (!calls->before_step.is_none()) calls->before_step(step, in, control, contacts);
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

class RolloutCore {
 public:
  RolloutCore(std::shared_ptr<novaphy::Model> model, std::size_t steps, py::object solver, py::object control,
              py::object contacts, double dt, std::size_t budget)
      : calls_(std::make_shared<Calls>()) {
    novaphy::python::require_model(model, "novaphy.diff.Rollout");
    PythonStep step{std::move(solver), std::move(control), std::move(contacts), dt, calls_};
    if (py::isinstance<ISolver>(step.solver)) step.engine_solver = step.solver.cast<ISolver*>();
    step.control_pointer = pointer_or_null<Control>(step.control);
    step.contacts_pointer = pointer_or_null<Contacts>(step.contacts);
    RolloutCallbacks callbacks;
    callbacks.step = std::move(step);
    callbacks.losses = [calls = calls_](std::size_t done, const RolloutState& state) {
      return calls->losses(done, state).cast<std::vector<Tensor>>();
    };
    callbacks.progress = [calls = calls_](std::size_t done, std::size_t total) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (!calls->progress.is_none()) calls->progress(done, total);
    };
    rollout_ = std::make_unique<Rollout>(std::move(model), steps, std::move(callbacks), budget);
  }

  Rollout& rollout() { return *rollout_; }
  /// Runs `work(rollout)` with these callbacks.
  template <class Work>
  auto with(const py::object& before_step, const py::object& losses, const py::object& progress, Work work) {
    struct Held {
      std::shared_ptr<Calls> calls;
      ~Held() { *calls = {}; }
    };
    NOVAPHY_REQUIRE(calls_->losses.is_none(), ErrorKind::generic,
                    "Rollout: it runs already; a callback cannot call it");
    const Held held{calls_};
    *calls_ = {before_step, losses, progress};
    return work(*rollout_);
  }

 private:
  std::shared_ptr<Calls> calls_;
  std::unique_ptr<Rollout> rollout_;
};

}  // namespace

void bind_rollout(py::module_& m) {
  using Callback = const py::object&;
  py::class_<RolloutCore>(m, "RolloutCore", "What novaphy.diff.Rollout stands on.")
      .def(py::init<std::shared_ptr<novaphy::Model>, std::size_t, py::object, py::object, py::object, double,
                    std::size_t>(),
           py::arg("model"), py::arg("steps"), py::arg("solver"), py::arg("control"), py::arg("contacts"),
           py::arg("dt"), py::arg("budget"))
      .def(
          "roll",
          [](RolloutCore& self, const RolloutState& start, Callback before, Callback losses,
             Callback progress) {
            return self.with(before, losses, progress, [&](Rollout& rollout) { return rollout.roll(start); });
          },
          py::arg("start"), py::arg("before_step"), py::arg("losses"), py::arg("progress"))
      .def(
          "backward",
          [](RolloutCore& self, Callback before, Callback losses, Callback progress) {
            self.with(before, losses, progress, [](Rollout& rollout) { rollout.backward(); });
          },
          py::arg("before_step"), py::arg("losses"), py::arg("progress"))
      .def(
          "estimate",
          [](RolloutCore& self, Callback before, Callback losses) {
            return self.with(before, losses, py::none(), [](Rollout& rollout) { return rollout.estimate(); });
          },
          py::arg("before_step"), py::arg("losses"))
      .def("states", [](RolloutCore& self) { return self.rollout().states(); })
      .def("memory_bytes", [](RolloutCore& self) { return self.rollout().memory_bytes(); })
      .def("release", [](RolloutCore& self) { self.rollout().release(); });
}

}  // namespace nova::python
