// SPDX-License-Identifier: Apache-2.0
// The parts of novaphy._core, in the order in which they are bound, and how arguments are read.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "novaphy/math.hpp"
#include "novaphy/model.hpp"
#include "novaphy/python.hpp"

namespace novaphy::python {

namespace py = pybind11;

void bind_errors(py::module_& m);
void bind_log(py::module_& m);
void bind_device(py::module_& m);
void bind_enums(py::module_& m);
void bind_transform(py::module_& m);
void bind_device_array(py::module_& m);
void bind_array_set(py::module_& m);
void bind_state(py::module_& m);
void bind_contacts(py::module_& m);
void bind_model(py::module_& m);
void bind_builder(py::module_& m);
void bind_solver(py::module_& m);
void bind_plugins(py::module_& m);
void bind_build_info(py::module_& m);
/// finish_classes(module), which this module and every extension call at their end.
void bind_class_rules(py::module_& m);

// Arguments. `where` names function and argument in messages: "add_particle: pos".

/// None = the default device; text or Device. Throws Error(value).
Device device_argument(const py::object& value);
/// `count` numbers from a tuple, list, NumPy array or any other sequence. Throws Error(type) or
/// Error(shape_mismatch).
void read_floats(const py::handle& value, float* out, std::size_t count, const std::string& where);
Vec3f vec3_argument(const py::handle& value, const std::string& where);
Quatf quat_argument(const py::handle& value, const std::string& where);
/// A Transform, seven numbers, or the pair (position, quaternion); None = the identity.
Transformf transform_argument(const py::handle& value, const std::string& where);
/// Axis, its number, or its letter.
Axis axis_argument(const py::handle& value, const std::string& where);

/// A number of any type that has no imaginary part; empty for everything else.
std::optional<double> number_of(const py::handle& value);

/// Sets an attribute that the class of `object` has; never makes one.
void set_existing_attribute(const py::object& object, const std::string& name, const py::object& value);
/// Raises AttributeError for an attribute that `object` does not have, with `hint`, or else the nearest name that it
/// has.
[[noreturn]] void raise_no_attribute(const py::object& object, const std::string& name, std::string hint = {});
/// DeprecationWarning at the caller's line.
void warn_deprecated(const std::string& message);

}  // namespace novaphy::python
