// SPDX-License-Identifier: Apache-2.0
// ModelBuilder.ShapeConfig and ModelBuilder.JointDofConfig: every field is a keyword and an attribute.
#include "builder.hpp"

namespace novaphy::python {
namespace {

using Dof = JointDofConfig;

#define NOVAPHY_SHAPE_FIELDS(X)                                                               \
  X(density, "kg/m^3; gives the body its mass.")                                              \
  X(ke, "Contact stiffness, N/m.")                                                            \
  X(kd, "Contact damping, N s/m.")                                                            \
  X(kf, "Friction damping, N s/m.")                                                           \
  X(ka, "Contact adhesion distance, m.")                                                      \
  X(mu, "Friction coefficient.")                                                              \
  X(restitution, "0 to 1.")                                                                   \
  X(mu_torsional, "Torsional friction coefficient.")                                          \
  X(mu_rolling, "Rolling friction coefficient.")                                              \
  X(margin, "Distance by which the surface is moved outwards, m.")                            \
  X(gap, "Distance at which contacts are generated, m; None = builder.rigid_gap.")            \
  X(is_solid, "Whether the mass fills the shape or only its shell.")                          \
  X(collision_group, "Shapes of different positive groups do not collide; 0 = with nothing.") \
  X(collision_filter_parent, "Whether it ignores shapes of the parent body.")                 \
  X(has_shape_collision, "Whether it collides with shapes.")                                  \
  X(has_particle_collision, "Whether it collides with particles.")                            \
  X(is_visible, "Whether viewers draw it.")                                                   \
  X(is_site, "A frame that collides with nothing and weighs nothing.")
#define NOVAPHY_DOF_FIELDS(X)                                       \
  X(limit_lower, "m or rad.")                                       \
  X(limit_upper, "m or rad.")                                       \
  X(limit_ke, "Stiffness of the limits, N/m or N m/rad.")           \
  X(limit_kd, "Damping of the limits, N s/m or N m s/rad.")         \
  X(target_q, "Target position of the drive, m or rad.")            \
  X(target_qd, "Target velocity of the drive, m/s or rad/s.")       \
  X(target_ke, "Stiffness of the drive, N/m or N m/rad.")           \
  X(target_kd, "Damping of the drive, N s/m or N m s/rad.")         \
  X(damping, "Passive damping, N s/m or N m s/rad.")                \
  X(stiffness, "Passive stiffness towards rest_q, N/m or N m/rad.") \
  X(rest_q, "Where the passive spring is at rest, m or rad.")       \
  X(armature, "Inertia of the drive, kg or kg m^2.")                \
  X(effort_limit, "N or N m.")                                      \
  X(velocity_limit, "m/s or rad/s.")                                \
  X(friction, "Friction force, N or N m.")                          \
  X(actuator_mode, "JointTargetMode of the drive; None = from the gains.")

/// Sets each keyword as an attribute, so that a wrong one gets the class's own message.
template <class Config>
Config from_keywords(Config config, const py::kwargs& fields) {
  py::object self = py::cast(&config, py::return_value_policy::reference);
  for (const auto& [name, value] : fields) {
    const auto field = py::reinterpret_borrow<py::str>(name);
    if (!py::hasattr(self, field)) {
      try {
        raise_no_attribute(self, field);
      } catch (const Error& error) {
        fail(ErrorKind::type, error.what());  // an unknown keyword is a TypeError in Python
      }
    }
    py::setattr(self, name, value);
  }
  return config;
}

template <class Config>
std::string repr(const py::object& self, const char* name, std::initializer_list<const char*> fields) {
  std::string out = std::string(name) + "(";
  const py::object standard = py::cast(Config{});
  bool first = true;
  for (const char* field : fields) {
    const py::object value = self.attr(field);
    if (value.equal(standard.attr(field))) continue;
    out += (first ? "" : ", ") + std::string(field) + "=" + std::string(py::repr(value));
    first = false;
  }
  return out + ")";
}

/// A field that may be read and written; an integer one takes no fraction.
template <class Config, class Value>
void def_field(py::class_<Config>& cls, const char* name, Value Config::*field, const char* doc) {
  if constexpr (std::is_same_v<Value, int>)
    cls.def_property(
        name, [field](const Config& self) { return self.*field; },
        py::cpp_function([field](Config& self, int value) { self.*field = value; }, py::is_method(cls),
                         py::arg("value").noconvert()),
        doc);
  else
    cls.def_readwrite(name, field, doc);
}

template <class Config>
void def_copies(py::class_<Config>& cls, std::initializer_list<const char*> fields) {
  const std::vector<const char*> names(fields);
  cls.def(
         "copy", [](const Config& self) { return self; }, "Another of the same values.")
      .def("__copy__", [](const Config& self) { return self; })
      .def(
          "__deepcopy__", [](const Config& self, const py::dict&) { return self; }, py::arg("memo"))
      .def(py::pickle(
          [names](const py::object& self) {
            py::dict out;
            for (const char* name : names) out[name] = self.attr(name);
            return out;
          },
          [](const py::dict& fields_of) {
            Config config;
            py::object self = py::cast(&config, py::return_value_policy::reference);
            for (const auto& [name, value] : fields_of) py::setattr(self, name, value);
            return config;
          }));
}

void bind_shape_config(py::handle scope) {
  py::class_<ShapeConfig> cls(scope, "ShapeConfig",
                              "How a shape collides and what it weighs; Newton's fields and defaults.");
  cls.def(py::init([](const py::kwargs& fields) { return from_keywords(ShapeConfig{}, fields); }));
#define X(field, doc) def_field(cls, #field, &ShapeConfig::field, doc);
  NOVAPHY_SHAPE_FIELDS(X)
#undef X
#define X(field, doc) #field,
  cls.def("mark_as_site", &ShapeConfig::mark_as_site, "A site collides with nothing and weighs nothing.")
      .def_property_readonly("flags", &ShapeConfig::flags)
      .def("__repr__", [](const py::object& self) {
        return repr<ShapeConfig>(self, "ShapeConfig", {NOVAPHY_SHAPE_FIELDS(X)});
      });
  def_copies(cls, {NOVAPHY_SHAPE_FIELDS(X)});
#undef X
}

void bind_joint_dof_config(py::handle scope) {
  py::class_<Dof> cls(scope, "JointDofConfig", "One axis of a joint; Newton's fields and defaults.");
  cls.def(py::init([](const py::object& axis, const py::kwargs& fields) {
            Dof config;
            config.axis = axis_vector(axis, "JointDofConfig: axis");
            return from_keywords(config, fields);
          }),
          py::arg("axis") = Axis::X);
  cls.def_property(
      "axis", [](const Dof& self) { return py::make_tuple(self.axis.x, self.axis.y, self.axis.z); },
      [](Dof& self, const py::object& axis) { self.axis = axis_vector(axis, "JointDofConfig: axis"); });
#define X(field, doc) def_field(cls, #field, &Dof::field, doc);
  NOVAPHY_DOF_FIELDS(X)
#undef X
#define X(field, doc) , #field
  cls.def_static(
         "create_unlimited",
         [](const py::object& axis) {
           return Dof::create_unlimited(axis_vector(axis, "JointDofConfig.create_unlimited: axis"));
         },
         py::arg("axis"), "An axis without limits, drive and limit forces.")
      .def("__repr__", [](const py::object& self) {
        return repr<Dof>(self, "JointDofConfig", {"axis" NOVAPHY_DOF_FIELDS(X)});
      });
  def_copies(cls, {"axis" NOVAPHY_DOF_FIELDS(X)});
#undef X
}

}  // namespace

Vec3f axis_vector(const py::handle& value, const std::string& where) {
  if (py::isinstance<py::str>(value) || PyIndex_Check(value.ptr())) {
    switch (axis_argument(value, where)) {
      case Axis::X:
        return {1, 0, 0};
      case Axis::Y:
        return {0, 1, 0};
      case Axis::Z:
        return {0, 0, 1};
    }
  }
  return vec3_argument(value, where);
}

void bind_builder_configs(py::handle builder_class) {
  bind_shape_config(builder_class);
  bind_joint_dof_config(builder_class);
}

}  // namespace novaphy::python
