// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's bodies and shapes.
#include "builder.hpp"

namespace novaphy::python {
namespace {

using Cfg = std::optional<ShapeConfig>;
using Label = std::optional<std::string>;

ShapeArgs shape_args(const char* where, const py::object& xform, const Cfg& cfg, bool as_site,
                     const Label& label) {
  return {optional_transform(xform, std::string(where) + ": xform"), cfg, as_site, label.value_or("")};
}

Mat33f inertia_argument(const py::object& value) {
  Mat33f out{};
  const auto rows = py::len(value);
  if (rows == 9) {
    read_floats(value, &out.m[0][0], 9, "add_body: inertia");
    return out;
  }
  NOVAPHY_REQUIRE(rows == 3, ErrorKind::shape_mismatch, "add_body: inertia wants a 3x3 matrix, got ", rows,
                  " rows");
  for (std::size_t i = 0; i < 3; ++i)
    read_floats(value[py::int_(i)], out.m[i], 3, text("add_body: inertia, row ", i));
  return out;
}

template <int (ModelBuilder::*Add)(const BodyArgs&)>
int add_body(ModelBuilder& self, const py::object& xform, const py::object& com, const py::object& inertia,
             double mass, const Label& label, bool lock_inertia, bool is_kinematic) {
  BodyArgs args;
  args.xform = optional_transform(xform, "add_body: xform");
  args.com = optional_vec3(com, "add_body: com");
  if (!inertia.is_none()) args.inertia = inertia_argument(inertia);
  args.mass = mass;
  args.label = label.value_or("");
  args.lock_inertia = lock_inertia;
  args.is_kinematic = is_kinematic;
  return (self.*Add)(args);
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
         "body"_a, py::kw_only(), "xform"_a = none, "radius"_a = 1.0, "cfg"_a = none, "as_site"_a = false,
         "label"_a = none)
      .def(
          "add_shape_ellipsoid",
          [](ModelBuilder& self, int body, const py::object& xform, double rx, double ry, double rz,
             const Cfg& cfg, bool as_site, const Label& label) {
            return self.add_shape_ellipsoid(body, rx, ry, rz,
                                            shape_args("add_shape_ellipsoid", xform, cfg, as_site, label));
          },
          "body"_a, py::kw_only(), "xform"_a = none, "rx"_a = 1.0, "ry"_a = 0.75, "rz"_a = 0.5,
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
        "body"_a, py::kw_only(), "xform"_a = none, "radius"_a = 1.0, "half_height"_a = 0.5, "cfg"_a = none,
        "as_site"_a = false, "label"_a = none, doc);
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
  cls.def("add_body", &add_body<&ModelBuilder::add_body>, py::kw_only(), "xform"_a = none, "com"_a = none,
          "inertia"_a = none, "mass"_a = 0.0, "label"_a = none, "lock_inertia"_a = false,
          "is_kinematic"_a = false,
          "A body that floats: with a free joint to the world and an articulation of that joint. Returns the "
          "body's index.")
      .def("add_link", &add_body<&ModelBuilder::add_link>, py::kw_only(), "xform"_a = none, "com"_a = none,
           "inertia"_a = none, "mass"_a = 0.0, "label"_a = none, "lock_inertia"_a = false,
           "is_kinematic"_a = false,
           "A body alone, for joints and add_articulation to follow. Returns its index.")
      .def(
          "add_shape",
          [](ModelBuilder& self, int body, GeoType type, const py::object& xform, const Cfg& cfg,
             const py::object& scale, bool is_static, const Label& label) {
            return self.add_shape(body, type, vec3_argument(scale, "add_shape: scale"),
                                  shape_args("add_shape", xform, cfg, false, label), is_static);
          },
          py::kw_only(), "body"_a, "type"_a, "xform"_a = none, "cfg"_a = none,
          "scale"_a = py::make_tuple(1.0, 1.0, 1.0), "is_static"_a = false, "label"_a = none,
          "A shape of any kind; `scale` as in Model.shape_scale.")
      .def("add_shape_plane", &add_shape_plane, "plane"_a = py::make_tuple(0.0, 0.0, 1.0, 0.0), py::kw_only(),
           "xform"_a = none, "width"_a = 10.0, "length"_a = 10.0, "body"_a = -1, "cfg"_a = none,
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
          "body"_a, py::kw_only(), "xform"_a = none, "hx"_a = 0.5, "hy"_a = 0.5, "hz"_a = 0.5, "cfg"_a = none,
          "as_site"_a = false, "label"_a = none,
          "A box of half extents hx, hy, hz in m. Returns the shape's index.")
      .def(
          "add_site",
          [](ModelBuilder& self, int body, const py::object& xform, GeoType type, const py::object& scale,
             const Label& label, bool visible) {
            return self.add_site(body, optional_transform(xform, "add_site: xform"), type,
                                 vec3_argument(scale, "add_site: scale"), label.value_or(""), visible);
          },
          "body"_a, py::kw_only(), "xform"_a = none, "type"_a = GeoType::SPHERE,
          "scale"_a = py::make_tuple(0.01, 0.01, 0.01), "label"_a = none, "visible"_a = false,
          "A frame that collides with nothing and weighs nothing.")
      .def("add_shape_collision_filter_pair", &ModelBuilder::add_shape_collision_filter_pair, "shape_a"_a,
           "shape_b"_a, "These two shapes never collide.");
  bind_round_shapes(cls);
}

}  // namespace novaphy::python
