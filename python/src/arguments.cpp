// SPDX-License-Identifier: Apache-2.0
// Reads vectors, quaternions and transforms from whatever a caller writes for them.
#include <pybind11/numpy.h>

#include <cmath>
#include <limits>

#include "bindings.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {
namespace {

std::string type_name(const py::handle& value) {
  return py::str(py::type::handle_of(value).attr("__name__"));
}

/// The items of anything with an order, null when it has none: sequences, iterators, and what NumPy reads as
/// an array. Text, bytes, sets and mappings are no vectors.
py::object items_of(const py::handle& value) {
  if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr()))
    return py::reinterpret_borrow<py::object>(value);
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || PyByteArray_Check(value.ptr()) ||
      PyAnySet_Check(value.ptr()) || PyDict_Check(value.ptr()) || PyMemoryView_Check(value.ptr()))
    return {};
  py::object ordered = py::reinterpret_borrow<py::object>(value);
  const bool has_order = py::hasattr(value, "__iter__") || PySequence_Check(value.ptr());
  if (py::hasattr(value, "__array_interface__") || (!has_order && py::hasattr(value, "__array__")))
    ordered = py::module_::import("numpy").attr("asarray")(value);
  PyObject* items = PySequence_Fast(ordered.ptr(), "");
  if (items == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
  }
  return py::reinterpret_steal<py::object>(items);
}

bool is_complex(const py::handle& value) {
  if (PyComplex_Check(value.ptr())) return true;
  const py::object dtype = py::getattr(value, "dtype", py::none());
  return py::getattr(dtype, "kind", py::none()).equal(py::str("c"));
}

/// The value of a number, also of one too large for float64, which is infinite.
std::optional<double> real_number(const py::handle& value) {
  if (PyFloat_Check(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  if (!PyLong_Check(value.ptr()) && is_complex(value))
    return std::nullopt;  // NumPy would drop the imaginary part
  const double number = PyFloat_AsDouble(value.ptr());
  if (number != -1.0 || !PyErr_Occurred()) return number;
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError);
  if (!too_large && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
    throw py::error_already_set();
  PyErr_Clear();
  if (too_large) return std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

std::optional<double> number_of(const py::handle& value) {
  if (PyObject_Size(value.ptr()) >= 0) return std::nullopt;
  PyErr_Clear();  // it has no length
  return real_number(value);
}

void read_floats(const py::handle& value, float* out, std::size_t count, const std::string& where) {
  const py::object items = items_of(value);
  NOVAPHY_REQUIRE(items, ErrorKind::type, where, " wants ", count, " numbers, got ", type_name(value));
  const auto given = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
  NOVAPHY_REQUIRE(given == count, ErrorKind::shape_mismatch, where, " wants ", count, " numbers, got ",
                  given);
  PyObject** begin = PySequence_Fast_ITEMS(items.ptr());
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<double> number = real_number(begin[i]);
    NOVAPHY_REQUIRE(number, ErrorKind::type, where, " wants ", count, " numbers, and item ", i, " is ",
                    type_name(begin[i]));
    out[i] = static_cast<float>(*number);
    NOVAPHY_REQUIRE(!std::isinf(out[i]) || (!PyLong_Check(begin[i]) && std::isinf(*number)), ErrorKind::value,
                    where, " wants ", count, " numbers, and item ", i,
                    " is too large for float32: ", std::string(py::str(py::handle(begin[i]))).substr(0, 24));
  }
}

Vec3f vec3_argument(const py::handle& value, const std::string& where) {
  float v[3];
  read_floats(value, v, 3, where);
  return {v[0], v[1], v[2]};
}

Quatf quat_argument(const py::handle& value, const std::string& where) {
  float v[4];
  read_floats(value, v, 4, where);
  return {v[0], v[1], v[2], v[3]};
}

Transformf transform_argument(const py::handle& value, const std::string& where) {
  if (value.is_none()) return {{0, 0, 0}, {0, 0, 0, 1}};
  if (py::isinstance<Transformf>(value)) return value.cast<Transformf>();
  const py::object items = items_of(value);
  const py::ssize_t count = items ? PySequence_Fast_GET_SIZE(items.ptr()) : 0;
  if (count == 2) {
    PyObject** pair = PySequence_Fast_ITEMS(items.ptr());
    return {vec3_argument(pair[0], where + ": position"),
            quat_argument(pair[1], where + ": quaternion (x, y, z, w)")};
  }
  NOVAPHY_REQUIRE(
      count == 7, ErrorKind::type, where,
      " wants a Transform, seven numbers (x, y, z, qx, qy, qz, qw) or a pair (position, quaternion), got ",
      items ? text(count, " items") : type_name(value));
  float v[7];
  read_floats(items, v, 7, where);
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5], v[6]}};
}

void warn_deprecated(const std::string& message) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, message.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace novaphy::python
