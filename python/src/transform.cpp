// SPDX-License-Identifier: Apache-2.0
// Transform: a position and a unit quaternion (x, y, z, w).
#include <array>
#include <cmath>

#include "bindings.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {
namespace {

std::array<float, 7> numbers(const Transformf& t) {
  return {t.p.x, t.p.y, t.p.z, t.q.x, t.q.y, t.q.z, t.q.w};
}

py::tuple tuple_of(const Vec3f& v) {
  return py::make_tuple(v.x, v.y, v.z);
}
py::tuple tuple_of(const Quatf& q) {
  return py::make_tuple(q.x, q.y, q.z, q.w);
}

Transformf make(const py::object& position, const py::object& rotation) {
  const Vec3f p = position.is_none() ? Vec3f{0, 0, 0} : vec3_argument(position, "Transform: position");
  const Quatf q =
      rotation.is_none() ? Quatf{0, 0, 0, 1} : quat_argument(rotation, "Transform: rotation (x, y, z, w)");
  NOVAPHY_REQUIRE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z), ErrorKind::value,
                  "Transform: position is (", p.x, ", ", p.y, ", ", p.z, "): want finite numbers");
  const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  NOVAPHY_REQUIRE(std::fabs(length - 1.0f) <= 1e-3f, ErrorKind::value,
                  "Transform: rotation must be a unit quaternion, its length is ", length);
  return {p, normalize(q)};
}

Transformf from_axis_angle(const py::object& axis, float angle, const py::object& position) {
  const Vec3f a = vec3_argument(axis, "Transform.from_axis_angle: axis");
  const float l = length(a);
  NOVAPHY_REQUIRE(l > 0.0f && std::isfinite(l), ErrorKind::value,
                  "Transform.from_axis_angle: axis must not be zero");
  NOVAPHY_REQUIRE(std::isfinite(angle), ErrorKind::value, "Transform.from_axis_angle: angle is ", angle,
                  ": want a finite number of rad");
  const float s = std::sin(0.5f * angle) / l;
  const Quatf q = normalize(Quatf{a.x * s, a.y * s, a.z * s, std::cos(0.5f * angle)});
  return {
      position.is_none() ? Vec3f{0, 0, 0} : vec3_argument(position, "Transform.from_axis_angle: position"),
      q};
}

}  // namespace

void bind_transform(py::module_& m) {
  py::class_<Transformf>(m, "Transform",
                         "A position in m and a unit quaternion (x, y, z, w); maps p to q p q* + position.")
      .def(py::init(&make), py::arg("position") = py::none(), py::arg("rotation") = py::none())
      .def_static("identity",
                  [] {
                    return Transformf{{0, 0, 0}, {0, 0, 0, 1}};
                  })
      .def_static("from_axis_angle", &from_axis_angle, py::arg("axis"), py::arg("angle"),
                  py::arg("position") = py::none(), "A rotation by `angle` rad about `axis`.")
      .def_property_readonly(
          "position", [](const Transformf& t) { return tuple_of(t.p); }, "(x, y, z), m.")
      .def_property_readonly(
          "rotation", [](const Transformf& t) { return tuple_of(t.q); }, "Unit quaternion (x, y, z, w).")
      .def_property_readonly("p", [](const Transformf& t) { return tuple_of(t.p); })
      .def_property_readonly("q", [](const Transformf& t) { return tuple_of(t.q); })
      .def(
          "inverse", [](const Transformf& t) { return inverse(t); }, "The transform that undoes this one.")
      .def(
          "transform_point",
          [](const Transformf& t, const py::object& point) {
            return tuple_of(transform_point(t, vec3_argument(point, "Transform.transform_point: point")));
          },
          py::arg("point"), "Where this transform takes a point (x, y, z) [m].")
      .def(
          "__mul__", [](const Transformf& a, const Transformf& b) { return a * b; }, py::is_operator())
      .def(
          "__eq__", [](const Transformf& a, const Transformf& b) { return numbers(a) == numbers(b); },
          py::is_operator())
      .def("__hash__", [](const Transformf& t) { return py::hash(py::tuple(py::cast(numbers(t)))); })
      .def("__len__", [](const Transformf&) { return 7; })
      .def(
          "__getitem__",
          [](const Transformf& t, int i) {
            const int at = i < 0 ? i + 7 : i;
            NOVAPHY_REQUIRE(at >= 0 && at < 7, ErrorKind::index, "Transform: index ", i,
                            " is not in [-7, 7)");
            return numbers(t)[static_cast<std::size_t>(at)];
          },
          integer("index"))
      .def(
          "__getitem__",
          [](const Transformf& t, const py::slice& part) {
            return py::tuple(py::cast(numbers(t))).attr("__getitem__")(part);
          },
          py::arg("index"))
      .def("__repr__",
           [](const Transformf& t) {
             return text("Transform((", t.p.x, ", ", t.p.y, ", ", t.p.z, "), (", t.q.x, ", ", t.q.y, ", ",
                         t.q.z, ", ", t.q.w, "))");
           })
      .def(py::pickle(
          [](const Transformf& t) { return py::make_tuple(tuple_of(t.p), tuple_of(t.q)); },
          [](const py::tuple& state) {
            return Transformf{vec3_argument(state[0], "Transform"), quat_argument(state[1], "Transform")};
          }));
}

}  // namespace novaphy::python
