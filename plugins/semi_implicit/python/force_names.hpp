// SPDX-License-Identifier: Apache-2.0
// The argument `forces` of both solvers: names in the order of addition.
#pragma once

#include <string>
#include <vector>

#include "novaphy/python.hpp"

namespace novaphy::python {

/// As Python gave it; signatures show a sequence of str.
class GivenForces : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(GivenForces, py::object, PyObject_Type)
};

/// Throws Error(type) for a str, for what has no order (a set, a dict, an iterator) and for a name that is no
/// str.
inline std::vector<std::string> force_names(const py::object& given, const char* who) {
  NOVAPHY_REQUIRE(!py::isinstance<py::str>(given), ErrorKind::type, who, ": forces is the str ",
                  std::string(py::repr(given)), "; give a list of names, forces=[",
                  std::string(py::repr(given)), "]");
  NOVAPHY_REQUIRE(py::isinstance<py::sequence>(given) && !py::isinstance<py::bytes>(given), ErrorKind::type,
                  who, ": forces wants a list or tuple of names, in the order of addition; got ",
                  std::string(py::str(py::type::handle_of(given).attr("__name__"))));
  std::vector<std::string> names;
  for (const py::handle name : given) {
    NOVAPHY_REQUIRE(py::isinstance<py::str>(name), ErrorKind::type, who, ": forces[", names.size(), "] is ",
                    std::string(py::repr(name)), "; give the name of a force, a str");
    names.push_back(name.cast<std::string>());
  }
  return names;
}

}  // namespace novaphy::python

namespace pybind11::detail {
template <>
struct handle_type_name<novaphy::python::GivenForces> {
  static constexpr auto name = const_name("collections.abc.Sequence[str]");
};
}  // namespace pybind11::detail
