// SPDX-License-Identifier: Apache-2.0
// ModelBuilder.ShapeConfig and ModelBuilder.JointDofConfig: every field is a keyword and an attribute.
#include "builder.hpp"

namespace novaphy::python {
namespace {

using Dof = JointDofConfig;

#define NOVAPHY_SHAPE_FIELDS(X)                                                                           \
  X(density)                                                                                              \
  X(ke) X(kd) X(kf) X(ka) X(mu) X(restitution) X(mu_torsional) X(mu_rolling) X(margin) X(gap) X(is_solid) \
      X(collision_group) X(collision_filter_parent) X(has_shape_collision) X(has_particle_collision)      \
          X(is_visible) X(is_site)
#define NOVAPHY_DOF_FIELDS(X)                                                                          \
  X(limit_lower)                                                                                       \
  X(limit_upper) X(limit_ke) X(limit_kd) X(target_q) X(target_qd) X(target_ke) X(target_kd) X(damping) \
      X(stiffness) X(rest_q) X(armature) X(effort_limit) X(velocity_limit) X(friction) X(actuator_mode)

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

template <class Config>
void def_copies(py::class_<Config>& cls, std::initializer_list<const char*> fields) {
  const std::vector<const char*> names(fields);
  cls.def("copy", [](const Config& self) { return self; })
      .def("__copy__", [](const Config& self) { return self; })
      .def(
          "__deepcopy__", [](const Config& self, const py::dict&) { return self; }, py::arg("memo"))
      .def(
          "__setattr__",
          [](const py::object& self, const std::string& name, const py::object& value) {
            if (!py::hasattr(py::type::of(self), name.c_str())) raise_no_attribute(self, name);
            if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), value.ptr()) != 0)
              throw py::error_already_set();
          },
          py::arg("name"), py::arg("value"))
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
#define X(field) cls.def_readwrite(#field, &ShapeConfig::field);
  NOVAPHY_SHAPE_FIELDS(X)
#undef X
#define X(field) #field,
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
#define X(field) cls.def_readwrite(#field, &Dof::field);
  NOVAPHY_DOF_FIELDS(X)
#undef X
#define X(field) , #field
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
  if (py::isinstance<py::str>(value) || py::isinstance<py::int_>(value)) {
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
