// SPDX-License-Identifier: Apache-2.0
// nova.ScopedCapture and the graphs that it leaves.
#include "novaphy/nova/capture.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "novaphy/error.hpp"
#include "novaphy/python.hpp"

namespace nova::python {
namespace {

using novaphy::ErrorKind;

/// `with nova.ScopedCapture() as capture:`
struct CaptureContext {
  std::optional<ScopedCapture> open;
  std::optional<Graph> graph;
  py::object self;  ///< while open: what a thread captures with must not be freed on another
};

void launch_graph(const Graph& graph) {
  const py::gil_scoped_release unlocked;
  const std::lock_guard alone(one_at_a_time());
  graph.launch();
}

std::string graph_repr(const Graph& graph) {
  std::string out = novaphy::text("Graph(", graph.op_count(), " operations");
  const auto numbers = graph.numbers();
  for (std::size_t i = 0; i < numbers.size() && i < 8; ++i)
    out += novaphy::text(i == 0 ? "; frozen: " : ", ", numbers[i].operation, " ", numbers[i].name, " = ",
                         numbers[i].value);
  if (numbers.size() > 8) out += novaphy::text(", and ", numbers.size() - 8, " more");
  return out + ")";
}

py::list numbers_of(const Graph& graph) {
  py::list out;
  for (const FrozenNumber& number : graph.numbers())
    out.append(py::make_tuple(number.operation, number.name, number.value));
  return out;
}

void check_device(const py::object& device) {
  const auto asked = py::module_::import("novaphy._core").attr("device_of")(device).cast<novaphy::Device>();
  NOVAPHY_REQUIRE(asked.is_cpu(), ErrorKind::device_mismatch, "nova.ScopedCapture: device is '",
                  to_string(asked), "', and launches run on 'cpu'");
}

void bind_graph(py::module_& m) {
  py::class_<Graph>(m, "Graph",
                    "Launches with fixed memory and fixed order, as nova.ScopedCapture found them.")
      .def("launch", &launch_graph,
           "Runs everything in order, on what the arrays hold now. While a tape records, the launches are "
           "recorded as if made one by one. CaptureError where an array was replaced since the capture, a "
           "gradient that is read is gone, or a tape records and the graph holds something without a "
           "derivative.")
      .def_property_readonly("op_count", &Graph::op_count, "Operations that a launch runs.")
      .def_property_readonly(
          "numbers", &numbers_of,
          "The numbers that were frozen at the capture: (operation, name, value). A tensor made by "
          "nova.uniform may change between launches.")
      .def_property_readonly("memory_bytes", &Graph::memory_bytes,
                             "Bytes of the arrays that the graph owns alone.")
      .def("__str__", &Graph::text)
      .def("__repr__", &graph_repr);
  m.def("capture_launch", &launch_graph, py::arg("graph"), "The same as graph.launch().");
}

}  // namespace

void bind_capture(py::module_& m) {
  bind_graph(m);
  py::class_<CaptureContext>(
      m, "ScopedCapture",
      "with nova.ScopedCapture() as capture: operations of Nova are kept and not run; then "
      "capture.graph.launch() runs them. Kernels, backward of tapes opened inside, gradient clearing and "
      "updates can be captured; numbers are frozen. CaptureError at the line that acts at once: host reads "
      "and writes, steps of solvers whose supports_graph_capture is False, collide.")
      .def(py::init([](const py::object& device) {
             check_device(device);
             return std::make_unique<CaptureContext>();
           }),
           py::arg("device") = py::none())
      .def("__enter__",
           [](py::object self) {
             auto& context = self.cast<CaptureContext&>();
             NOVAPHY_REQUIRE(!context.open && !context.graph, ErrorKind::capture,
                             "nova.ScopedCapture: this capture was used already; make a new one");
             context.open.emplace();
             context.self = self;
             return self;
           })
      .def("__exit__",
           [](CaptureContext& self, const py::object& kind, const py::args&) {
             if (!self.open) return;
             NOVAPHY_REQUIRE(self.open->is_on_this_thread(), ErrorKind::capture,
                             "nova.ScopedCapture: another thread captures with it; end it on that thread");
             const py::object held = std::move(self.self);
             // an error inside: nothing was captured
             if (kind.is_none()) {
               try {
                 self.graph = self.open->finish();
               } catch (...) {
                 self.open.reset();
                 throw;
               }
             }
             self.open.reset();
           })
      .def_property_readonly(
          "graph",
          [](const CaptureContext& self) {
            NOVAPHY_REQUIRE(
                self.graph.has_value(), ErrorKind::capture,
                "nova.ScopedCapture.graph: there is none before the 'with' block ends without an error");
            return *self.graph;
          },
          "What was captured, a nova.Graph.");
  m.def(
      "is_capturing", [] { return is_capturing(); }, "Whether this thread captures.");
}

}  // namespace nova::python
