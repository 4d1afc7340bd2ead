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

std::unique_ptr<Tape> make_tape(const std::string& on_overwrite, bool keep_values) {
  NOVAPHY_REQUIRE(on_overwrite == "error" || on_overwrite == "save", ErrorKind::value,
                  "nova.Tape: on_overwrite is \"error\" or \"save\", not \"", on_overwrite, "\"");
  return std::make_unique<Tape>(on_overwrite == "save" ? OnOverwrite::save : OnOverwrite::error,
                                keep_values ? KeepValues::all : KeepValues::wanted);
}

Tensor tensor_argument(const py::object& given, const char* what, const char* remedy) {
  NOVAPHY_REQUIRE(py::isinstance<Tensor>(given), ErrorKind::type, "Tape.backward: ", what, " is a ",
                  std::string(py::str(py::type::handle_of(given).attr("__name__"))), "; ", remedy);
  return given.cast<Tensor>();
}

void run_backward(Tape& self, const py::object& of, const py::object& seed) {
  const Tensor loss = tensor_argument(of, "the loss", "give a nova.Tensor that the recording computed");
  std::optional<Tensor> grad;
  if (!seed.is_none()) grad = tensor_argument(seed, "grad", "give a nova.Tensor of the shape of the loss");
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

std::string joined(const std::vector<RecordSummary::Argument>& arguments) {
  std::string out;
  for (const RecordSummary::Argument& argument : arguments)
    out += (out.empty() ? "" : ", ") + (argument.name.empty() ? "" : argument.name + "=") + argument.array;
  return out;
}

std::string report_text(const TapeReport& report) {
  const auto list = [](const char* title, const std::vector<std::string>& names) {
    std::string out = std::string(title) + ": ";
    if (names.empty()) return out + "none\n";
    for (std::size_t i = 0; i < names.size(); ++i) out += (i ? "; " : "") + names[i];
    return out + "\n";
  };
  return list("wanted arrays that the loss does not depend on", report.leaves_without_path) +
         list("gradient ends at the integers of", report.cuts) +
         list("copies of overwritten values", report.saved_copies);
}

std::string table(const TapeReport& report) {
  std::string out;
  for (std::size_t r = 0; r < report.records.size(); ++r) {
    const RecordSummary& line = report.records[r];
    out += novaphy::text("launch ", r, " ", line.name, ", ", line.rows, " rows: ", joined(line.inputs),
                         " -> ", joined(line.outputs), "\n");
  }
  return out;
}

py::list pairs(const std::vector<RecordSummary::Argument>& arguments) {
  py::list out;
  for (const RecordSummary::Argument& argument : arguments)
    out.append(py::make_tuple(argument.name, argument.array));
  return out;
}

/// `with nova.record_name("contact"):`
struct RecordNameContext {
  std::string name;
  std::stack<std::unique_ptr<RecordName>> names{};
};

/// `with nova.no_grad():`, also within itself.
struct NoGradContext {
  std::stack<std::unique_ptr<NoGrad>> pauses;
};

/// What holds for processes that fork while a recording differentiates.
void bind_fork() {
  // a forked child has none of the threads that may be at work: the fork waits for them
  const auto take = py::cpp_function([] {
    const py::gil_scoped_release unlocked;
    one_at_a_time().lock();
  });
  const auto release = py::cpp_function([] { one_at_a_time().unlock(); });
  const auto renew = py::cpp_function([] { new (&one_at_a_time()) std::recursive_mutex; });
  py::module_::import("os").attr("register_at_fork")(
      py::arg("before") = take, py::arg("after_in_parent") = release, py::arg("after_in_child") = renew);
}

void bind_report(py::module_& m) {
  py::class_<RecordSummary>(m, "RecordSummary", "One line of a recording.")
      .def_readonly("name", &RecordSummary::name, "The kernel or operation, after the name of record_name.")
      .def_readonly("rows", &RecordSummary::rows, "Rows of the launch; 0 for an operation that is no kernel.")
      .def_property_readonly(
          "inputs", [](const RecordSummary& self) { return pairs(self.inputs); },
          "(name of the argument, array) of each input.")
      .def_property_readonly(
          "outputs", [](const RecordSummary& self) { return pairs(self.outputs); },
          "(name of the argument, array) of each output.");

  py::class_<TapeReport>(m, "TapeReport", "What a recording knows after backward.")
      .def_readonly(
          "leaves_without_path", &TapeReport::leaves_without_path,
          "Arrays that require gradient and that the loss does not depend on; their gradient is None.")
      .def_readonly("cuts", &TapeReport::cuts,
                    "Integer results of differentiable input: gradient ends there.")
      .def_readonly("saved_copies", &TapeReport::saved_copies,
                    "Values that the tape keeps because a launch overwrote them, with on_overwrite=\"save\".")
      .def_readonly("records", &TapeReport::records, "The launches in their order, RecordSummary each.")
      .def_property_readonly("table", &table,
                             "Text with a line for each launch: name, rows, input arrays, output arrays.")
      .def("__str__", &report_text)
      .def("__repr__", &report_text);
}

void bind_tape_class(py::module_& m) {
  py::class_<Tape>(m, "Tape", "Records the operations of a 'with' block and differentiates them in reverse.")
      .def(py::init(&make_tape), py::arg("on_overwrite") = "error", py::arg("keep_values") = false,
           "on_overwrite: what happens when a launch overwrites a value that backward needs: \"error\" makes "
           "backward raise StaleRecordError, \"save\" keeps a copy on the tape first. keep_values: keep what "
           "the recording made also where no derivative needs it that leads to an array with requires_grad, "
           "so that requires_grad may be set after the recording; by default its memory is given back as "
           "soon as nobody else holds it.")
      .def("__enter__",
           [](py::object self) {
             self.cast<Tape&>().open();
             return self;
           })
      .def("__exit__", [](Tape& self, const py::args&) { self.close(); })
      .def("backward", &run_backward, py::arg("loss"), py::arg("grad") = py::none(),
           "Adds d(loss)/d(array) to .grad of every array that requires it and that the loss depends on. "
           "`grad`, of the loss's shape, is the cotangent of a loss with more than one element. A second "
           "call adds once more. GradientNotReadyError while the block is open, StaleRecordError when a "
           "value that a derivative needs was overwritten, ValueError for a loss of several elements without "
           "`grad`.")
      .def("zero", &exclusive<&Tape::zero>, "Drops the gradients of all arrays on this tape.")
      .def("reset", &exclusive<&Tape::reset>, "Drops the records.")
      .def("report", &Tape::report, "The records and what backward found out, a TapeReport.")
      .def(
          "visualize",
          [](const Tape& self, const py::object& path) {
            py::module_::import("novaphy._record_graph").attr("save")(self.report(), path);
          },
          py::arg("path"),
          "Draws records and arrays as a graph. The ending chooses: .dot or .gv is text and needs nothing; "
          ".svg, .png or .pdf needs Graphviz, or else Matplotlib. ValueError for another ending, ImportError "
          "where neither is there.")
      .def_property_readonly("record_count", &Tape::record_count, "Recorded launches.")
      .def_property_readonly("memory_bytes", &Tape::memory_bytes,
                             "Bytes of the recording itself; forward values stay in the arrays.");
}

/// Blocks of `with`.
void bind_scopes(py::module_& m) {
  py::class_<RecordNameContext>(
      m, "record_name",
      "What is recorded in a 'with nova.record_name(name):' block stands under this name in "
      "messages and reports; blocks within blocks read 'outer/inner'.")
      .def(py::init([](std::string name) { return RecordNameContext{std::move(name)}; }), py::arg("name"))
      .def("__enter__",
           [](RecordNameContext& self) { self.names.push(std::make_unique<RecordName>(self.name)); })
      .def("__exit__", [](RecordNameContext& self, const py::args&) {
        if (!self.names.empty()) self.names.pop();
      });

  py::class_<NoGradContext>(m, "no_grad", "Operations of a 'with nova.no_grad():' block are not recorded.")
      .def(py::init<>())
      .def("__enter__", [](NoGradContext& self) { self.pauses.push(std::make_unique<NoGrad>()); })
      .def("__exit__", [](NoGradContext& self, const py::args&) {
        if (!self.pauses.empty()) self.pauses.pop();
      });
}

}  // namespace

std::recursive_mutex& one_at_a_time() {
  static std::recursive_mutex mutex;
  return mutex;
}

void bind_tape(py::module_& m) {
  bind_fork();
  bind_report(m);
  bind_tape_class(m);
  bind_scopes(m);
}

}  // namespace nova::python
