// SPDX-License-Identifier: Apache-2.0
// Reads vectors, quaternions and transforms from whatever a caller writes for them.
#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {
namespace {

std::string type_name(const py::handle& value) {
  return py::str(py::type::handle_of(value).attr("__name__"));
}

/// The items of any iterable with a length, null when it has none. Text is no vector.
py::object items_of(const py::handle& value) {
  if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr()))
    return py::reinterpret_borrow<py::object>(value);
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) return {};
  PyObject* items = PySequence_Fast(value.ptr(), "");
  if (items == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(items);
}

}  // namespace

void read_floats(const py::handle& value, float* out, std::size_t count, const std::string& where) {
  const py::object items = items_of(value);
  NOVAPHY_REQUIRE(items, ErrorKind::type, where, " wants ", count, " numbers, got ", type_name(value));
  const auto given = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
  NOVAPHY_REQUIRE(given == count, ErrorKind::shape_mismatch, where, " wants ", count, " numbers, got ",
                  given);
  PyObject** begin = PySequence_Fast_ITEMS(items.ptr());
  for (std::size_t i = 0; i < count; ++i) {
    const double number = PyFloat_AsDouble(begin[i]);
    if (number == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      fail(ErrorKind::type, where, " wants ", count, " numbers, and item ", i, " is ", type_name(begin[i]));
    }
    out[i] = static_cast<float>(number);
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

void raise_no_attribute(const py::object& object, const std::string& name) {
  static const char* const kElsewhere[][2] = {
      {"ground", "the ground is a shape: builder.add_ground_plane()"},
      {"rigid_contact_margin", "set ShapeConfig(margin=...) in the builder, or model.shape_margin"},
      {"joint_attach_ke", "pass it to the solver"},
      {"joint_attach_kd", "pass it to the solver"},
      {"add_shape_mesh", "meshes are not supported yet; use primitive shapes"},
      {"add_shape_convex_hull", "meshes are not supported yet; use primitive shapes"},
      {"add_shape_heightfield", "height fields are not supported yet; use primitive shapes"},
      {"add_soft_mesh", "meshes are not supported yet; use add_soft_grid()"},
      {"add_cloth_mesh", "meshes are not supported yet; use add_cloth_grid()"},
      {"add_urdf", "importers are not supported yet"},
      {"add_mjcf", "importers are not supported yet"},
      {"add_usd", "importers are not supported yet"},
  };
  const std::string cls = type_name(object);
  std::string hint;
  for (const auto& [wrong, advice] : kElsewhere)
    if (name == wrong) hint = advice;
  if (hint.empty()) {
    const py::list near =
        py::module_::import("difflib").attr("get_close_matches")(name, object.attr("__dir__")(), 1, 0.5);
    if (!near.empty()) hint = "did you mean '" + std::string(py::str(near[0])) + "'?";
  }
  fail(ErrorKind::attribute, "'", cls, "' has no attribute '", name, "'", hint.empty() ? "" : "; ", hint);
}

void warn_deprecated(const std::string& message) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, message.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace novaphy::python
