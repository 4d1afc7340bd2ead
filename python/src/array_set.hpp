// SPDX-License-Identifier: Apache-2.0
// What Model, SimState, Control and Contacts share in Python: array properties, custom arrays, copying,
// pickling.
#pragma once

#include <string>

#include "bindings.hpp"
#include "novaphy/python_arrays.hpp"

namespace novaphy::python {

py::tuple array_to_tuple(const DeviceArray& array);
DeviceArray array_from_tuple(const py::tuple& state);

/// Arrays and custom specifications, for __getstate__.
py::dict arrays_to_dict(ArraySet& set);
/// The reverse, into a set that was just made. `owner` and `index` name the arrays in messages.
void arrays_from_dict(ArraySet& set, const py::dict& state, const char* owner, int index);
py::tuple custom_to_tuple(const CustomArray& spec);
CustomArray custom_from_tuple(const py::tuple& state);

/// Arguments of add_custom_array.
CustomArray custom_argument(const std::string& name, const std::string& frequency, const py::object& dtype,
                            int width, const py::object& default_value, const std::string& owner);

/// A property on one array: reading gives a handle on the memory, assigning copies into it.
template <class Owner>
void def_array(py::class_<Owner, ArraySet, py::smart_holder>& cls, const char* name,
               DeviceArray Owner::*member, const char* doc) {
  cls.def_property(
      name, [member](const Owner& self) { return self.*member; },
      [member](Owner& self, const py::object& value) {
        assign_array(self.*member, value, describe(self.*member));
      },
      doc);
}

/// Another name of an array property. With a warning text it is a name of the past.
template <class Owner>
void def_alias(py::class_<Owner, ArraySet, py::smart_holder>& cls, const char* alias, const char* name,
               const char* warning = nullptr) {
  cls.def_property(
      alias,
      [name, warning](const py::object& self) {
        if (warning) warn_deprecated(warning);
        return py::object(self.attr(name));
      },
      [name, warning](const py::object& self, const py::object& value) {
        if (warning) warn_deprecated(warning);
        py::setattr(self, name, value);
      },
      (std::string(warning ? "The old name of `" : "The same as `") + name + "`.").c_str());
}

}  // namespace novaphy::python
