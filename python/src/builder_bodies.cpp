// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's bodies and shapes.
#include <pybind11/numpy.h>

#include "builder.hpp"
#include "novaphy/python_arrays.hpp"

namespace novaphy::python {
namespace {

using Cfg = std::optional<ShapeConfig>;
using Label = std::optional<std::string>;

ShapeArgs shape_args(const char* where, const py::object& xform, const Cfg& cfg, bool as_site,
                     const Label& label) {
  return {optional_transform(xform, std::string(where) + ": xform"), cfg, as_site, label.value_or("")};
}

Mat33f inertia_argument(const py::object& value, const std::string& where) {
  Mat33f out{};
  py::array given = convert_array(value, {where, DType::f32, {3, 3}});
  std::copy_n(static_cast<const float*>(given.data()), 9, &out.m[0][0]);
  return out;
}

using AddBody = int (ModelBuilder::*)(const BodyArgs&);

/// add_body and add_link take the same arguments.
void def_body(BuilderClass& cls, const char* name, AddBody add, const char* doc) {
  using namespace py::literals;
  const py::none none;
  cls.def(
      name,
      [add, where = std::string(name)](ModelBuilder& self, const py::object& xform, const py::object& com,
                                       const py::object& inertia, double mass, const Label& label,
                                       bool lock_inertia, bool is_kinematic) {
        BodyArgs args;
        args.xform = optional_transform(xform, where + ": xform");
        args.com = optional_vec3(com, where + ": com");
        if (!inertia.is_none()) args.inertia = inertia_argument(inertia, where + ": inertia");
        args.mass = mass;
        args.label = label.value_or("");
        args.lock_inertia = lock_inertia;
        args.is_kinematic = is_kinematic;
        return (self.*add)(args);
      },
      py::kw_only(), "xform"_a = none, "com"_a = none, "inertia"_a = none, "mass"_a = 0.0, "label"_a = none,
      "lock_inertia"_a = false, "is_kinematic"_a = false, doc);
}

int add_shape_plane(ModelBuilder& self, const py::object& plane, const py::object& xform, double width,
                    double length, int body, const Cfg& cfg, const Label& label) {
  float equation[4];
  read_floats(plane, equation, 4, "add_shape_plane: plane (a, b, c, d)");
  return self.add_shape_plane({equation[0], equation[1], equation[2], equation[3]}, width, length, body,
                              shape_args("add_shape_plane", xform, cfg, false, label));
}

void bind_round_shapes(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def(
         "add_shape_sphere",
         [](ModelBuilder& self, int body, const py::object& xform, double radius, const Cfg& cfg,
            bool as_site, const Label& label) {
           return self.add_shape_sphere(body, radius,
                                        shape_args("add_shape_sphere", xform, cfg, as_site, label));
         },
         integer("body"), py::kw_only(), "xform"_a = none, "radius"_a = 1.0, "cfg"_a = none,
         "as_site"_a = false, "label"_a = none, "A sphere of that radius, m. Returns the shape's index.")
      .def(
          "add_shape_ellipsoid",
          [](ModelBuilder& self, int body, const py::object& xform, double rx, double ry, double rz,
             const Cfg& cfg, bool as_site, const Label& label) {
            return self.add_shape_ellipsoid(body, rx, ry, rz,
                                            shape_args("add_shape_ellipsoid", xform, cfg, as_site, label));
          },
          integer("body"), py::kw_only(), "xform"_a = none, "rx"_a = 1.0, "ry"_a = 0.75, "rz"_a = 0.5,
          "cfg"_a = none, "as_site"_a = false, "label"_a = none,
          "An ellipsoid of half axes rx, ry, rz in m.");
  const auto def_long = [&](const char* name, int (ModelBuilder::*add)(int, double, double, const ShapeArgs&),
                            const char* doc) {
    cls.def(
        name,
        [add, name](ModelBuilder& self, int body, const py::object& xform, double radius, double half_height,
                    const Cfg& cfg, bool as_site, const Label& label) {
          return (self.*add)(body, radius, half_height, shape_args(name, xform, cfg, as_site, label));
        },
        integer("body"), py::kw_only(), "xform"_a = none, "radius"_a = 1.0, "half_height"_a = 0.5,
        "cfg"_a = none, "as_site"_a = false, "label"_a = none, doc);
  };
  def_long("add_shape_capsule", &ModelBuilder::add_shape_capsule,
           "A capsule along local Z; half_height of its straight part, m.");
  def_long("add_shape_cylinder", &ModelBuilder::add_shape_cylinder, "A cylinder along local Z, m.");
  def_long("add_shape_cone", &ModelBuilder::add_shape_cone,
           "A cone along local Z: base at -half_height, tip at +half_height, m.");
}

}  // namespace

void bind_builder_bodies(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  def_body(
      cls, "add_body", &ModelBuilder::add_body,
      "A body that floats: with a free joint to the world and an articulation of that joint. mass in kg, "
      "inertia (3, 3) in kg m^2 about com [m], both in the body's frame. Returns the body's index.");
  def_body(cls, "add_link", &ModelBuilder::add_link,
           "A body alone, for joints and add_articulation to follow; arguments as in add_body. Returns its "
           "index.");
  cls.def(
         "add_shape",
         [](ModelBuilder& self, int body, GeoType type, const py::object& xform, const Cfg& cfg,
            const py::object& scale, bool is_static, const Label& label) {
           return self.add_shape(body, type, vec3_argument(scale, "add_shape: scale"),
                                 shape_args("add_shape", xform, cfg, false, label), is_static);
         },
         py::kw_only(), integer("body"), "type"_a, "xform"_a = none, "cfg"_a = none,
         "scale"_a = py::make_tuple(1.0, 1.0, 1.0), "is_static"_a = false, "label"_a = none,
         "A shape of any kind; `scale` as in Model.shape_scale.")
      .def("add_shape_plane", &add_shape_plane, "plane"_a = py::make_tuple(0.0, 0.0, 1.0, 0.0), py::kw_only(),
           "xform"_a = none, "width"_a = 10.0, "length"_a = 10.0, integer("body") = -1, "cfg"_a = none,
           "label"_a = none,
           "The plane a x + b y + c z + d = 0, or local Z of xform; width and length 0 = infinite.")
      .def(
          "add_ground_plane",
          [](ModelBuilder& self, double height, const Cfg& cfg, const std::string& label) {
            return self.add_ground_plane(height, cfg, label);
          },
          py::kw_only(), "height"_a = 0.0, "cfg"_a = none, "label"_a = "ground_plane",
          "An infinite plane across the up axis.")
      .def(
          "add_shape_box",
          [](ModelBuilder& self, int body, const py::object& xform, double hx, double hy, double hz,
             const Cfg& cfg, bool as_site, const Label& label) {
            return self.add_shape_box(body, hx, hy, hz,
                                      shape_args("add_shape_box", xform, cfg, as_site, label));
          },
          integer("body"), py::kw_only(), "xform"_a = none, "hx"_a = 0.5, "hy"_a = 0.5, "hz"_a = 0.5,
          "cfg"_a = none, "as_site"_a = false, "label"_a = none,
          "A box of half extents hx, hy, hz in m. Returns the shape's index.")
      .def(
          "add_site",
          [](ModelBuilder& self, int body, const py::object& xform, GeoType type, const py::object& scale,
             const Label& label, bool visible) {
            return self.add_site(body, optional_transform(xform, "add_site: xform"), type,
                                 vec3_argument(scale, "add_site: scale"), label.value_or(""), visible);
          },
          integer("body"), py::kw_only(), "xform"_a = none, "type"_a = GeoType::SPHERE,
          "scale"_a = py::make_tuple(0.01, 0.01, 0.01), "label"_a = none, "visible"_a = false,
          "A frame that collides with nothing and weighs nothing.")
      .def("add_shape_collision_filter_pair", &ModelBuilder::add_shape_collision_filter_pair,
           integer("shape_a"), integer("shape_b"), "These two shapes never collide.");
  bind_round_shapes(cls);
}

}  // namespace novaphy::python
