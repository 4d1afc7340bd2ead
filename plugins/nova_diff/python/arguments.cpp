// SPDX-License-Identifier: Apache-2.0
// Arguments from Python that may be several things, or the wrong one.
#include "bindings.hpp"
#include "novaphy/python_arrays.hpp"
#include "traced.hpp"

namespace nova::python {

using novaphy::DeviceArray;
using novaphy::ErrorKind;
using novaphy::fail;

std::string class_of(py::handle given) {
  return std::string(py::str(py::type::handle_of(given).attr("__name__")));
}

bool is_tensor(py::handle given) {
  return py::isinstance<Tensor>(given) || py::isinstance<DeviceArray>(given);
}

void leave_traced(std::initializer_list<py::handle> given) {
  for (const py::handle value : given) {
    bool is_traced = py::isinstance<Mask>(value);
    with_each_type([&]<class T>() { is_traced |= py::isinstance<T>(value); });
    if (is_traced) throw py::reference_cast_error();  // pybind11 tries the next overload
  }
}

double number_of(py::handle given, std::string_view who) {
  py::detail::make_caster<double> number;
  if (is_tensor(given) || !number.load(given, true)) fail(ErrorKind::type, who, " is a ", class_of(given), "; give a number");
  return py::detail::cast_op<double>(number);
}

Tensor tensor_of(py::handle given, std::string_view who) {
  if (py::isinstance<Tensor>(given)) return given.cast<Tensor>();
  if (!py::isinstance<DeviceArray>(given)) fail(ErrorKind::type, who, " is a ", class_of(given), "; give a nova.Tensor");
  return Tensor(given.cast<DeviceArray>());
}

}  // namespace nova::python
