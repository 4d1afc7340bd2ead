// SPDX-License-Identifier: Apache-2.0
// Enumerations of the data model as Python's IntEnum and IntFlag, with Newton's numbers.
#include "bindings.hpp"
#include "novaphy/types.hpp"

#include <pybind11/native_enum.h>

namespace novaphy::python {
namespace {

/// An enum.IntFlag from names and bits.
void add_flags(py::module_& m, const char* name, const py::dict& bits, const char* doc) {
  py::dict options;
  options["module"] = "novaphy";
  const py::object flags = py::module_::import("enum").attr("IntFlag")(name, bits, **options);
  flags.attr("__doc__") = doc;
  m.attr(name) = flags;
}

}  // namespace

Axis axis_argument(const py::handle& value, const std::string& where) {
  if (py::isinstance<py::str>(value)) {
    const auto letter = value.cast<std::string>();
    if (letter == "X" || letter == "x") return Axis::X;
    if (letter == "Y" || letter == "y") return Axis::Y;
    if (letter == "Z" || letter == "z") return Axis::Z;
  } else if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr);
    if (number >= 0 && number <= 2) return static_cast<Axis>(number);
    PyErr_Clear();
  }
  fail(ErrorKind::value, where, " wants Axis.X, Axis.Y or Axis.Z, got ", std::string(py::repr(value)));
}

void bind_enums(py::module_& m) {
  py::native_enum<Axis>(m, "Axis", "enum.IntEnum", "Coordinate axes.")
      .value("X", Axis::X)
      .value("Y", Axis::Y)
      .value("Z", Axis::Z)
      .finalize();
  py::native_enum<GeoType>(m, "GeoType", "enum.IntEnum", "Kinds of collision shapes.")
      .value("NONE", GeoType::NONE)
      .value("PLANE", GeoType::PLANE)
      .value("HFIELD", GeoType::HFIELD)
      .value("SPHERE", GeoType::SPHERE)
      .value("CAPSULE", GeoType::CAPSULE)
      .value("ELLIPSOID", GeoType::ELLIPSOID)
      .value("CYLINDER", GeoType::CYLINDER)
      .value("BOX", GeoType::BOX)
      .value("MESH", GeoType::MESH)
      .value("CONE", GeoType::CONE)
      .value("CONVEX_MESH", GeoType::CONVEX_MESH)
      .finalize();
  py::native_enum<JointType>(m, "JointType", "enum.IntEnum", "Kinds of joints.")
      .value("PRISMATIC", JointType::PRISMATIC)
      .value("REVOLUTE", JointType::REVOLUTE)
      .value("BALL", JointType::BALL)
      .value("FIXED", JointType::FIXED)
      .value("FREE", JointType::FREE)
      .value("DISTANCE", JointType::DISTANCE)
      .value("D6", JointType::D6)
      .finalize();
  py::native_enum<JointTargetMode>(m, "JointTargetMode", "enum.IntEnum", "What a joint's drive follows.")
      .value("NONE", JointTargetMode::NONE)
      .value("POSITION", JointTargetMode::POSITION)
      .value("VELOCITY", JointTargetMode::VELOCITY)
      .value("POSITION_VELOCITY", JointTargetMode::POSITION_VELOCITY)
      .value("EFFORT", JointTargetMode::EFFORT)
      .finalize();
  using namespace py::literals;
  add_flags(m, "ParticleFlags", py::dict("ACTIVE"_a = ParticleFlags::ACTIVE),
            "Bits of Model.particle_flags.");
  add_flags(m, "ShapeFlags",
            py::dict("VISIBLE"_a = ShapeFlags::VISIBLE, "COLLIDE_SHAPES"_a = ShapeFlags::COLLIDE_SHAPES,
                     "COLLIDE_PARTICLES"_a = ShapeFlags::COLLIDE_PARTICLES, "SITE"_a = ShapeFlags::SITE),
            "Bits of Model.shape_flags.");
  add_flags(m, "BodyFlags", py::dict("DYNAMIC"_a = BodyFlags::DYNAMIC, "KINEMATIC"_a = BodyFlags::KINEMATIC),
            "Bits of Model.body_flags.");
}

}  // namespace novaphy::python
