// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: construction, defaults, worlds and finalize(). Its add_* calls stand in builder_*.cpp.
#include "builder.hpp"

#include "array_set.hpp"

namespace novaphy::python {
namespace {

void def_defaults(BuilderClass& cls) {
  cls.def_readwrite("default_shape_cfg", &ModelBuilder::default_shape_cfg,
                    "ShapeConfig of shapes that name none.")
      .def_readwrite("default_joint_cfg", &ModelBuilder::default_joint_cfg,
                     "JointDofConfig of axes that name none.")
      .def_readwrite("default_particle_radius", &ModelBuilder::default_particle_radius, "m")
      .def_readwrite("default_tri_ke", &ModelBuilder::default_tri_ke, "Stretch stiffness of triangles, N/m.")
      .def_readwrite("default_tri_ka", &ModelBuilder::default_tri_ka, "Area stiffness of triangles, N/m.")
      .def_readwrite("default_tri_kd", &ModelBuilder::default_tri_kd, "Damping of triangles, N s/m.")
      .def_readwrite("default_tri_drag", &ModelBuilder::default_tri_drag, "Drag of triangles.")
      .def_readwrite("default_tri_lift", &ModelBuilder::default_tri_lift, "Lift of triangles.")
      .def_readwrite("default_edge_ke", &ModelBuilder::default_edge_ke, "Bending stiffness, N m/rad.")
      .def_readwrite("default_edge_kd", &ModelBuilder::default_edge_kd, "Bending damping, N m s/rad.")
      .def_readwrite("default_spring_ke", &ModelBuilder::default_spring_ke, "Stiffness of springs, N/m.")
      .def_readwrite("default_spring_kd", &ModelBuilder::default_spring_kd, "Damping of springs, N s/m.")
      .def_readwrite("default_tet_density", &ModelBuilder::default_tet_density, "kg/m^3")
      .def_readwrite("default_tet_k_mu", &ModelBuilder::default_tet_k_mu,
                     "First Lame parameter of tetrahedra (shear), Pa.")
      .def_readwrite("default_tet_k_lambda", &ModelBuilder::default_tet_k_lambda,
                     "Second Lame parameter of tetrahedra (volume), Pa.")
      .def_readwrite("default_tet_k_damp", &ModelBuilder::default_tet_k_damp, "Damping of tetrahedra, Pa s.")
      .def_readwrite("rigid_gap", &ModelBuilder::rigid_gap, "Gap of shapes whose configuration has none, m.")
      .def_readwrite("particle_max_velocity", &ModelBuilder::particle_max_velocity, "m/s")
      .def_property(
          "default_gravity",
          [](const ModelBuilder& self) {
            return py::make_tuple(self.default_gravity.x, self.default_gravity.y, self.default_gravity.z);
          },
          [](ModelBuilder& self, const py::object& value) {
            self.default_gravity = vec3_argument(value, "ModelBuilder.default_gravity");
          },
          "Gravity of worlds that do not name their own, m/s^2.");
}

void def_counts(BuilderClass& cls) {
  cls.def_property_readonly("up_axis", &ModelBuilder::up_axis)
      .def_property_readonly("up_vector",
                             [](const ModelBuilder& self) {
                               const Vec3f up = self.up_vector();
                               return py::make_tuple(up.x, up.y, up.z);
                             })
      .def_property_readonly("particle_count", &ModelBuilder::particle_count)
      .def_property_readonly("spring_count", &ModelBuilder::spring_count)
      .def_property_readonly("tri_count", &ModelBuilder::tri_count)
      .def_property_readonly("edge_count", &ModelBuilder::edge_count)
      .def_property_readonly("tet_count", &ModelBuilder::tet_count)
      .def_property_readonly("body_count", &ModelBuilder::body_count)
      .def_property_readonly("shape_count", &ModelBuilder::shape_count)
      .def_property_readonly("joint_count", &ModelBuilder::joint_count)
      .def_property_readonly("joint_coord_count", &ModelBuilder::joint_coord_count)
      .def_property_readonly("joint_dof_count", &ModelBuilder::joint_dof_count)
      .def_property_readonly("articulation_count", &ModelBuilder::articulation_count)
      .def_property_readonly("world_count", &ModelBuilder::world_count)
      .def_property_readonly("current_world", &ModelBuilder::current_world)
      .def_readonly("body_label", &ModelBuilder::body_label)
      .def_readonly("shape_label", &ModelBuilder::shape_label)
      .def_readonly("joint_label", &ModelBuilder::joint_label)
      .def_readonly("articulation_label", &ModelBuilder::articulation_label)
      .def_readonly("world_label", &ModelBuilder::world_label);
}

void def_worlds(BuilderClass& cls) {
  using Label = std::optional<std::string>;
  cls.def(
         "begin_world",
         [](ModelBuilder& self, const Label& label, const py::object& gravity) {
           return self.begin_world(label.value_or(""), optional_vec3(gravity, "begin_world: gravity"));
         },
         py::arg("label") = py::none(), py::arg("gravity") = py::none(),
         "What is added until end_world() belongs to a new world.")
      .def("end_world", &ModelBuilder::end_world, "What is added now belongs to no world of its own.")
      .def(
          "add_builder",
          [](ModelBuilder& self, const ModelBuilder& other, const py::object& xform, const Label& prefix) {
            self.add_builder(other, optional_transform(xform, "add_builder: xform"), prefix.value_or(""));
          },
          py::arg("builder"), py::arg("xform") = py::none(), py::arg("label_prefix") = py::none(),
          "Copies everything of another builder into the current world, moved by xform.")
      .def(
          "add_world",
          [](ModelBuilder& self, const ModelBuilder& other, const py::object& xform, const Label& prefix) {
            return self.add_world(other, optional_transform(xform, "add_world: xform"), prefix.value_or(""));
          },
          py::arg("builder"), py::arg("xform") = py::none(), py::arg("label_prefix") = py::none(),
          "Copies another builder into a world of its own. Returns the world's number.")
      .def(
          "replicate",
          [](ModelBuilder& self, const ModelBuilder& other, int copy_count, const py::object& spacing) {
            self.replicate(other, copy_count, vec3_argument(spacing, "replicate: spacing"));
          },
          py::arg("builder"), integer("copy_count"), py::arg("spacing") = py::make_tuple(0.0, 0.0, 0.0),
          "Copies another builder into copy_count worlds, spread over a grid by spacing [m].");
}

/// The model that was made last, for provenance(); it is not kept alive.
std::weak_ptr<Model> last_model;

std::shared_ptr<Model> finalize(const ModelBuilder& self, const py::object& device, bool requires_grad,
                                bool skip_all_validations) {
  NOVAPHY_REQUIRE(!skip_all_validations, ErrorKind::unsupported_feature,
                  "finalize: skip_all_validations=True is not supported; the checks always run");
  std::shared_ptr<Model> model = self.finalize(device_argument(device), requires_grad);
  last_model = model;
  return model;
}

/// gravity is None, a vector, or (deprecated) one number along the up axis.
std::shared_ptr<ModelBuilder> make_builder(const py::object& up_axis, const py::object& gravity) {
  const Axis up = axis_argument(up_axis, "ModelBuilder: up_axis");
  const std::optional<double> number = number_of(gravity);
  if (!number) return std::make_shared<ModelBuilder>(up, optional_vec3(gravity, "ModelBuilder: gravity"));
  warn_deprecated("ModelBuilder: gravity is a vector now; write (0, 0, -9.81) instead of -9.81");
  const auto along = static_cast<float>(*number);
  const Vec3f axis = ModelBuilder(up).up_vector();
  return std::make_shared<ModelBuilder>(up, Vec3f{axis.x * along, axis.y * along, axis.z * along});
}

}  // namespace

void bind_builder(py::module_& m) {
  m.def(
      "last_model", [] { return last_model.lock(); },
      "The model that was finalized last, None when it is gone.");
  BuilderClass cls(
      m, "ModelBuilder",
      "Collects a scene and turns it into a Model. Names, parameters and defaults are Newton's.");
  bind_builder_configs(cls);
  cls.def(py::init(&make_builder), py::arg("up_axis") = Axis::Z, py::arg("gravity") = py::none(),
          "gravity: three numbers in m/s^2, None = 9.81 against the up axis.");
  def_defaults(cls);
  def_counts(cls);
  bind_builder_particles(cls);
  bind_builder_bodies(cls);
  bind_builder_joints(cls);
  def_worlds(cls);
  bind_builder_columns(m, cls);
  cls.def(
         "add_custom_array",
         [](ModelBuilder& self, const std::string& name, const std::string& frequency,
            const py::object& dtype, int width, const py::object& default_value, const std::string& owner) {
           self.add_custom_array(custom_argument(name, frequency, dtype, width, default_value, owner));
         },
         py::arg("name"), py::arg("frequency"), py::arg("dtype") = "float32", integer("width") = 1,
         py::arg("default") = 0.0, py::arg("owner") = "model",
         "An array that the model, or every state, control or contacts of it, carries beside ours.")
      .def("finalize", &finalize, py::arg("device") = py::none(), py::kw_only(),
           py::arg("requires_grad") = false, py::arg("skip_all_validations") = false,
           "Checks the whole and makes the model. The builder stays as it is.")
      .def(
          "build", [](const ModelBuilder& self) { return finalize(self, py::none(), false, false); },
          "The same as finalize().")
      .def(
          "__getattr__",
          [](const py::object& self, const std::string& name) -> py::object {
            if (name.starts_with("__"))
              fail(ErrorKind::attribute, "no attribute '", name, "'");  // Python's own questions
            raise_no_attribute(self, name);
          },
          py::arg("name"))
      .def("__copy__", [](const ModelBuilder& self) { return std::make_shared<ModelBuilder>(self); })
      .def(
          "__deepcopy__",
          [](const ModelBuilder& self, const py::dict&) { return std::make_shared<ModelBuilder>(self); },
          py::arg("memo"))
      .def("__repr__",
           [](const ModelBuilder& self) {
             return text("ModelBuilder(", self.particle_count(), " particles, ", self.body_count(),
                         " bodies, ", self.shape_count(), " shapes, ", self.joint_count(), " joints)");
           })
      .def(py::pickle(&builder_to_dict, &builder_from_dict));
}

}  // namespace novaphy::python
