// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's joints and articulations.
#include "builder.hpp"

namespace novaphy::python {
namespace {

using Dof = JointDofConfig;
using Number = std::optional<double>;
using Label = std::optional<std::string>;
using Filter = std::optional<bool>;

JointArgs joint_args(const char* where, const py::object& parent_xform, const py::object& child_xform,
                     const Label& label, const Filter& filter, bool enabled) {
  return {optional_transform(parent_xform, std::string(where) + ": parent_xform"),
          optional_transform(child_xform, std::string(where) + ": child_xform"), filter, enabled,
          label.value_or("")};
}

/// One axis from an Axis, a vector or a whole JointDofConfig, with the named numbers on top. None = the
/// default axis.
Dof axis_config(const ModelBuilder& self, const char* where, const py::object& axis,
                const py::dict& numbers) {
  Dof config = self.default_joint_cfg;
  if (py::isinstance<Dof>(axis))
    config = axis.cast<Dof>();
  else if (!axis.is_none())
    config.axis = axis_vector(axis, std::string(where) + ": axis");
  py::object view = py::cast(&config, py::return_value_policy::reference);
  for (const auto& [name, value] : numbers)
    if (!value.is_none()) py::setattr(view, name, value);
  return config;
}

/// add_joint_revolute and add_joint_prismatic take the same arguments.
void def_hinge(BuilderClass& cls, const char* name,
               int (ModelBuilder::*add)(int, int, const std::optional<Dof>&, const JointArgs&),
               const char* doc) {
  using namespace py::literals;
  const py::none none;
  cls.def(
      name,
      [add, name](ModelBuilder& self, int parent, int child, const py::object& parent_xform,
                  const py::object& child_xform, const py::object& axis, Number target_q, Number target_qd,
                  Number target_ke, Number target_kd, Number damping, Number stiffness, Number limit_lower,
                  Number limit_upper, Number limit_ke, Number limit_kd, Number armature, Number effort_limit,
                  Number velocity_limit, Number friction, const py::object& actuator_mode, const Label& label,
                  const Filter& filter, bool enabled) {
        py::dict numbers("target_q"_a = target_q, "target_qd"_a = target_qd, "target_ke"_a = target_ke,
                         "target_kd"_a = target_kd, "damping"_a = damping, "stiffness"_a = stiffness,
                         "limit_lower"_a = limit_lower, "limit_upper"_a = limit_upper,
                         "limit_ke"_a = limit_ke, "limit_kd"_a = limit_kd, "armature"_a = armature,
                         "effort_limit"_a = effort_limit, "velocity_limit"_a = velocity_limit,
                         "friction"_a = friction, "actuator_mode"_a = actuator_mode);
        return (self.*add)(parent, child, axis_config(self, name, axis, numbers),
                           joint_args(name, parent_xform, child_xform, label, filter, enabled));
      },
      integer("parent"), integer("child"), py::kw_only(), "parent_xform"_a = none, "child_xform"_a = none,
      "axis"_a = none, "target_q"_a = none, "target_qd"_a = none, "target_ke"_a = none, "target_kd"_a = none,
      "damping"_a = none, "stiffness"_a = none, "limit_lower"_a = none, "limit_upper"_a = none,
      "limit_ke"_a = none, "limit_kd"_a = none, "armature"_a = none, "effort_limit"_a = none,
      "velocity_limit"_a = none, "friction"_a = none, "actuator_mode"_a = none, "label"_a = none,
      "collision_filter_parent"_a = none, "enabled"_a = true, doc);
}

std::vector<Dof> axes_of(const ModelBuilder& self, const char* where, const py::object& axes) {
  std::vector<Dof> out;
  if (axes.is_none()) return out;
  NOVAPHY_REQUIRE(py::isinstance<py::iterable>(axes), ErrorKind::type, where,
                  ": axes want a list of Axis, vectors or JointDofConfig, got ", std::string(py::repr(axes)));
  for (const py::handle axis : axes)
    out.push_back(axis_config(self, where, py::reinterpret_borrow<py::object>(axis), {}));
  return out;
}

void bind_many_axes(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def(
         "add_joint",
         [](ModelBuilder& self, JointType type, int parent, int child, const py::object& linear,
            const py::object& angular, const py::object& parent_xform, const py::object& child_xform,
            const Label& label, const Filter& filter, bool enabled) {
           return self.add_joint(type, parent, child, axes_of(self, "add_joint", linear),
                                 axes_of(self, "add_joint", angular),
                                 joint_args("add_joint", parent_xform, child_xform, label, filter, enabled));
         },
         "joint_type"_a, integer("parent"), integer("child"), py::kw_only(), "linear_axes"_a = none,
         "angular_axes"_a = none, "parent_xform"_a = none, "child_xform"_a = none, "label"_a = none,
         "collision_filter_parent"_a = none, "enabled"_a = true, "A joint of any type. Returns its index.")
      .def(
          "add_joint_d6",
          [](ModelBuilder& self, int parent, int child, const py::object& linear, const py::object& angular,
             const py::object& parent_xform, const py::object& child_xform, const Label& label,
             const Filter& filter, bool enabled) {
            return self.add_joint_d6(
                parent, child, axes_of(self, "add_joint_d6", linear), axes_of(self, "add_joint_d6", angular),
                joint_args("add_joint_d6", parent_xform, child_xform, label, filter, enabled));
          },
          integer("parent"), integer("child"), py::kw_only(), "linear_axes"_a = none, "angular_axes"_a = none,
          "parent_xform"_a = none, "child_xform"_a = none, "label"_a = none,
          "collision_filter_parent"_a = none, "enabled"_a = true,
          "Up to three linear and three angular axes, each an Axis, a vector or a JointDofConfig.")
      .def(
          "add_joint_ball",
          [](ModelBuilder& self, int parent, int child, const py::object& parent_xform,
             const py::object& child_xform, Number armature, Number friction, Number damping,
             Number stiffness, const py::object& actuator_mode, const Label& label, const Filter& filter,
             bool enabled) {
            const py::dict numbers("armature"_a = armature, "friction"_a = friction, "damping"_a = damping,
                                   "stiffness"_a = stiffness, "actuator_mode"_a = actuator_mode);
            return self.add_joint_ball(
                parent, child, axis_config(self, "add_joint_ball", py::none(), numbers),
                joint_args("add_joint_ball", parent_xform, child_xform, label, filter, enabled));
          },
          integer("parent"), integer("child"), py::kw_only(), "parent_xform"_a = none, "child_xform"_a = none,
          "armature"_a = none, "friction"_a = none, "damping"_a = none, "stiffness"_a = none,
          "actuator_mode"_a = none, "label"_a = none, "collision_filter_parent"_a = none, "enabled"_a = true,
          "A ball joint. Returns its index.");
}

void bind_simple_joints(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def(
         "add_joint_fixed",
         [](ModelBuilder& self, int parent, int child, const py::object& parent_xform,
            const py::object& child_xform, const Label& label, const Filter& filter, bool enabled) {
           return self.add_joint_fixed(
               parent, child,
               joint_args("add_joint_fixed", parent_xform, child_xform, label, filter, enabled));
         },
         integer("parent"), integer("child"), py::kw_only(), "parent_xform"_a = none, "child_xform"_a = none,
         "label"_a = none, "collision_filter_parent"_a = none, "enabled"_a = true,
         "The child is fixed to the parent. Returns the joint's index.")
      .def(
          "add_joint_free",
          [](ModelBuilder& self, int child, const py::object& parent_xform, const py::object& child_xform,
             int parent, const Label& label, const Filter& filter, bool enabled) {
            return self.add_joint_free(
                child, joint_args("add_joint_free", parent_xform, child_xform, label, filter, enabled),
                parent);
          },
          integer("child"), py::kw_only(), "parent_xform"_a = none, "child_xform"_a = none,
          integer("parent") = -1, "label"_a = none, "collision_filter_parent"_a = none, "enabled"_a = true,
          "The child floats: 7 coordinates, 6 speeds. Returns the joint's index.")
      .def(
          "add_joint_distance",
          [](ModelBuilder& self, int parent, int child, const py::object& parent_xform,
             const py::object& child_xform, double min_distance, double max_distance, const Label& label,
             const Filter& filter, bool enabled) {
            return self.add_joint_distance(
                parent, child, min_distance, max_distance,
                joint_args("add_joint_distance", parent_xform, child_xform, label, filter, enabled));
          },
          integer("parent"), integer("child"), py::kw_only(), "parent_xform"_a = none, "child_xform"_a = none,
          "min_distance"_a = -1.0, "max_distance"_a = 1.0, "label"_a = none,
          "collision_filter_parent"_a = none, "enabled"_a = true, "A negative distance is no limit.")
      .def(
          "add_articulation",
          [](ModelBuilder& self, const std::vector<int>& joints, const Label& label) {
            return self.add_articulation(std::span<const int>(joints), label.value_or(""));
          },
          integer("joints"), "label"_a = none,
          "Joints in increasing order without gaps. Returns the articulation's index.");
}

}  // namespace

void bind_builder_joints(BuilderClass& cls) {
  def_hinge(cls, "add_joint_revolute", &ModelBuilder::add_joint_revolute,
            "A hinge about one axis. Returns the joint's index.");
  def_hinge(cls, "add_joint_prismatic", &ModelBuilder::add_joint_prismatic,
            "A slider along one axis. Returns the joint's index.");
  bind_many_axes(cls);
  bind_simple_joints(cls);
}

}  // namespace novaphy::python
