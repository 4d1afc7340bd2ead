// SPDX-License-Identifier: Apache-2.0
// nova.Tape and nova.no_grad.
#include "novaphy/nova/tape.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stack>
#include <string>

#include "bindings.hpp"

namespace nova::python {
namespace {

using novaphy::ErrorKind;

std::unique_ptr<Tape> make_tape(const std::string& on_overwrite) {
  NOVAPHY_REQUIRE(on_overwrite == "error" || on_overwrite == "save", ErrorKind::value,
                  "nova.Tape: on_overwrite is \"error\" or \"save\", not \"", on_overwrite, "\"");
  return std::make_unique<Tape>(on_overwrite == "save" ? OnOverwrite::save : OnOverwrite::error);
}

void run_backward(Tape& self, const Tensor& loss, const std::optional<Tensor>& grad) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  if (grad)
    self.backward(loss, *grad);
  else
    self.backward(loss);
}

template <void (Tape::*Call)()>
void exclusive(Tape& self) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  (self.*Call)();
}

std::string report_text(const TapeReport& report) {
  const auto list = [](const char* title, const std::vector<std::string>& names) {
    std::string out = std::string(title) + ": ";
    if (names.empty()) return out + "none\n";
    for (std::size_t i = 0; i < names.size(); ++i) out += (i ? "; " : "") + names[i];
    return out + "\n";
  };
  return list("wanted arrays that the loss does not depend on", report.leaves_without_path) +
         list("gradient ends at the integers of", report.cuts);
}

/// `with nova.no_grad():`, also within itself.
struct NoGradContext {
  std::stack<std::unique_ptr<NoGrad>> pauses;
};

}  // namespace

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

void bind_tape(py::module_& m) {
  py::class_<TapeReport>(m, "TapeReport", "What a recording knows after backward.")
      .def_readonly(
          "leaves_without_path", &TapeReport::leaves_without_path,
          "Arrays that require gradient and that the loss does not depend on; their gradient is None.")
      .def_readonly("cuts", &TapeReport::cuts,
                    "Integer results of differentiable input: gradient ends there.")
      .def("__str__", &report_text)
      .def("__repr__", &report_text);

  py::class_<Tape>(m, "Tape", "Records the operations of a 'with' block and differentiates them in reverse.")
      .def(py::init(&make_tape), py::arg("on_overwrite") = "error")
      .def("__enter__",
           [](py::object self) {
             self.cast<Tape&>().open();
             return self;
           })
      .def("__exit__", [](Tape& self, const py::args&) { self.close(); })
      .def("backward", &run_backward, py::arg("loss"), py::arg("grad") = py::none(),
           "Adds d(loss)/d(array) to .grad of every array that requires it and that the loss depends on. "
           "`grad` is the cotangent of a loss "
           "with more than one element.")
      .def("zero", &exclusive<&Tape::zero>, "Drops the gradients of all arrays on this tape.")
      .def("reset", &exclusive<&Tape::reset>, "Drops the records.")
      .def("report", &Tape::report, "What backward found out, a TapeReport.")
      .def_property_readonly("record_count", &Tape::record_count, "Recorded launches.")
      .def_property_readonly("memory_bytes", &Tape::memory_bytes,
                             "Bytes of the recording itself; forward values stay in the arrays.");

  py::class_<NoGradContext>(m, "no_grad", "Operations of a 'with nova.no_grad():' block are not recorded.")
      .def(py::init<>())
      .def("__enter__", [](NoGradContext& self) { self.pauses.push(std::make_unique<NoGrad>()); })
      .def("__exit__", [](NoGradContext& self, const py::args&) {
        if (!self.pauses.empty()) self.pauses.pop();
      });
}

}  // namespace nova::python
