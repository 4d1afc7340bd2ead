// SPDX-License-Identifier: Apache-2.0
// Numbers and sequences of Python as traced values, and traced values by row type.
#include <string>

#include "novaphy/python_arrays.hpp"
#include "traced.hpp"

namespace nova::python {

using novaphy::ErrorKind;

bool is_number(py::handle value) {
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return true;
  // a scalar of NumPy: it has a shape without extents
  return py::hasattr(value, "__float__") && py::hasattr(value, "shape") && py::hasattr(value, "dtype") &&
         py::len(value.attr("shape")) == 0;
}

bool is_sequence(py::handle value) {
  if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) return true;
  return py::isinstance<py::str>(py::type::of(value).attr("__module__")) &&
         std::string(py::str(py::type::of(value).attr("__module__"))) == "numpy";
}

float float_literal(py::handle value) {
  return novaphy::python::float32_of(py::float_(py::reinterpret_borrow<py::object>(value)), "a number");
}

bool literal_nodes(py::handle value, bool integers, std::vector<std::uint32_t>& nodes) {
  if (!integers && py::isinstance<Expr>(value)) {
    nodes.push_back(value.cast<Expr>().node);
    return true;
  }
  if (integers && py::isinstance<Int>(value)) {
    nodes.push_back(value.cast<Int>().node);
    return true;
  }
  if (is_number(value)) {
    if (integers && !PyIndex_Check(value.ptr())) return false;
    if (integers)
      nodes.push_back(
          trace_constant(py::int_(py::reinterpret_borrow<py::object>(value)).cast<std::int32_t>()));
    else
      nodes.push_back(trace_constant(float_literal(value)));
    return true;
  }
  if (!integers && py::isinstance<Vec3E>(value)) {  // the rows of a matrix, the parts of a transform
    for (const std::uint32_t node : nodes_of(value.cast<Vec3E>())) nodes.push_back(node);
    return true;
  }
  if (!integers && py::isinstance<QuatE>(value)) {
    for (const std::uint32_t node : nodes_of(value.cast<QuatE>())) nodes.push_back(node);
    return true;
  }
  if (!is_sequence(value)) return false;
  for (const py::handle entry : value)
    if (!literal_nodes(entry, integers, nodes)) return false;
  return true;
}

py::object value_of(Row row, std::span<const std::uint32_t> nodes) {
  py::object out;
  with_each_type([&]<class T>() {
    if (kRowOf<T> == row) out = py::cast(from_nodes<T>(nodes));
  });
  return out;
}

std::vector<std::uint32_t> nodes_as(Row row, py::handle value, const std::string& what) {
  std::vector<std::uint32_t> nodes;
  bool fits = false;
  std::string wanted;
  with_each_type([&]<class T>() {
    if (kRowOf<T> != row) return;
    T number;
    wanted = py::str(py::type::of<T>().attr("__name__"));
    fits = load_like<T>(value, number);
    if (fits) nodes = nodes_of(number);
  });
  if (!fits)
    novaphy::fail(ErrorKind::trace, what, " wants a ", wanted, ", got ",
         std::string(py::str(py::type::of(value).attr("__name__"))));
  return nodes;
}

}  // namespace nova::python
