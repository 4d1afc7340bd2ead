// SPDX-License-Identifier: Apache-2.0
// Model: its arrays and scalars, and the objects that are made from it.
#include "array_set.hpp"

namespace novaphy::python {
namespace {

using ModelClass = py::class_<Model, ArraySet, py::smart_holder>;

/// Says that particles collide. It holds nothing: a solver finds the pairs by cells that it keeps itself.
struct ParticleGrid {};

/// A number that is one column of a parameter array.
void def_scalar(ModelClass& cls, const char* name, DeviceArray Model::*array, std::size_t column,
                const char* doc) {
  cls.def_property(
      name, [array, column](const Model& self) { return (self.*array).read<float>()[column]; },
      [array, column, name](Model& self, const py::object& value) {
        float number = 0.0f;
        read_floats(py::make_tuple(value), &number, 1, text("Model.", name));
        (self.*array).write<float>()[column] = number;
      },
      doc);
}

void def_contact_scalars(ModelClass& cls) {
  constexpr auto soft = &Model::soft_contact_material;
  def_scalar(cls, "soft_contact_ke", soft, 0, "Stiffness of particle-shape contact, N/m.");
  def_scalar(cls, "soft_contact_kd", soft, 1, "Damping of particle-shape contact, N s/m.");
  def_scalar(cls, "soft_contact_kf", soft, 2, "Friction damping of particle-shape contact, N s/m.");
  def_scalar(cls, "soft_contact_mu", soft, 3, "Friction coefficient of particle-shape contact.");
  def_scalar(cls, "soft_contact_restitution", soft, 4, "Restitution of particle-shape contact.");
  constexpr auto particle = &Model::particle_contact_material;
  def_scalar(cls, "particle_ke", particle, 0, "Stiffness between particles, N/m.");
  def_scalar(cls, "particle_kd", particle, 1, "Damping between particles, N s/m.");
  def_scalar(cls, "particle_kf", particle, 2, "Friction damping between particles, N s/m.");
  def_scalar(cls, "particle_mu", particle, 3, "Friction coefficient between particles.");
  def_scalar(cls, "particle_cohesion", particle, 4, "Cohesion between particles.");
  def_scalar(cls, "particle_adhesion", particle, 5, "Adhesion between particles.");
}

void def_counts(ModelClass& cls) {
  cls.def_readonly("particle_count", &Model::particle_count)
      .def_readonly("spring_count", &Model::spring_count)
      .def_readonly("tri_count", &Model::tri_count)
      .def_readonly("edge_count", &Model::edge_count)
      .def_readonly("tet_count", &Model::tet_count)
      .def_readonly("muscle_count", &Model::muscle_count)
      .def_readonly("body_count", &Model::body_count)
      .def_readonly("shape_count", &Model::shape_count)
      .def_readonly("joint_count", &Model::joint_count)
      .def_readonly("joint_coord_count", &Model::joint_coord_count)
      .def_readonly("joint_dof_count", &Model::joint_dof_count)
      .def_readonly("articulation_count", &Model::articulation_count)
      .def_readonly("world_count", &Model::world_count)
      .def_readonly("up_axis", &Model::up_axis)
      .def_readonly("device", &Model::device, "Where the arrays lie.")
      .def_readonly("requires_grad", &Model::requires_grad, "What finalize() was asked for.")
      .def_readonly("body_label", &Model::body_label)
      .def_readonly("shape_label", &Model::shape_label)
      .def_readonly("joint_label", &Model::joint_label)
      .def_readonly("articulation_label", &Model::articulation_label)
      .def_readwrite("particle_max_velocity", &Model::particle_max_velocity,
                     "Particles are not integrated faster than this, m/s.")
      .def_readonly("particle_max_radius", &Model::particle_max_radius, "Largest particle radius, m.")
      .def_property_readonly("version", &Model::version,
                             "Changes whenever a number of the model is written.");
}

void def_aliases(ModelClass& cls) {
  def_alias(cls, "tet_activations", "particle_tet_activation");
  def_alias(cls, "tet_materials", "particle_tet_material");
  def_alias(cls, "tri_activations", "particle_tri_activation");
  def_alias(cls, "tri_materials", "particle_tri_material");
  def_alias(cls, "joint_target_pos", "joint_target_q", "Model.joint_target_pos is called joint_target_q now");
  def_alias(cls, "joint_target", "joint_target_q", "Model.joint_target is called joint_target_q now");
  def_alias(cls, "joint_target_vel", "joint_target_qd",
            "Model.joint_target_vel is called joint_target_qd now");
  cls.def_property(
      "particle_grid",
      [](const Model& self) { return self.particles_collide ? py::cast(ParticleGrid()) : py::none(); },
      [](Model& self, const py::object& grid) {
        NOVAPHY_REQUIRE(grid.is_none() || py::isinstance<ParticleGrid>(grid), ErrorKind::type,
                        "Model.particle_grid: got ", std::string(py::str(py::type::of(grid).attr("__name__"))),
                        "; give novaphy.ParticleGrid() to let particles act on each other, or None");
        self.particles_collide = !grid.is_none();
      },
      "None: particles do not act on each other. novaphy.ParticleGrid(): they repel where they touch "
      "(particle_ke, particle_kd, particle_kf, particle_mu, particle_cohesion).");
}

py::dict model_to(Model& model) {
  py::dict out = arrays_to_dict(model);
  out["counts"] = py::make_tuple(model.particle_count, model.spring_count, model.tri_count, model.edge_count,
                                 model.tet_count, model.muscle_count, model.body_count, model.shape_count,
                                 model.joint_count, model.joint_coord_count, model.joint_dof_count,
                                 model.articulation_count, model.world_count);
  out["up_axis"] = static_cast<int>(model.up_axis);
  out["requires_grad"] = model.requires_grad;
  out["particle_max"] = py::make_tuple(model.particle_max_velocity, model.particle_max_radius);
  out["particles_collide"] = model.particles_collide;
  out["labels"] =
      py::make_tuple(model.body_label, model.shape_label, model.joint_label, model.articulation_label);
  py::list specs;
  for (const CustomArray& spec : model.custom_array_specs) specs.append(custom_to_tuple(spec));
  out["custom_specs"] = specs;
  return out;
}

std::shared_ptr<Model> model_from(const py::dict& pickled) {
  auto model = std::make_shared<Model>();
  const py::tuple counts = pickled["counts"];
  int* const into[] = {&model->particle_count,    &model->spring_count,    &model->tri_count,
                       &model->edge_count,        &model->tet_count,       &model->muscle_count,
                       &model->body_count,        &model->shape_count,     &model->joint_count,
                       &model->joint_coord_count, &model->joint_dof_count, &model->articulation_count,
                       &model->world_count};
  for (std::size_t i = 0; i < std::size(into); ++i) *into[i] = counts[i].cast<int>();
  model->up_axis = static_cast<Axis>(pickled["up_axis"].cast<int>());
  model->requires_grad = pickled["requires_grad"].cast<bool>();
  std::tie(model->particle_max_velocity, model->particle_max_radius) =
      pickled["particle_max"].cast<std::pair<float, float>>();
  model->particles_collide = pickled["particles_collide"].cast<bool>();
  const py::tuple labels = pickled["labels"];
  model->body_label = labels[0].cast<std::vector<std::string>>();
  model->shape_label = labels[1].cast<std::vector<std::string>>();
  model->joint_label = labels[2].cast<std::vector<std::string>>();
  model->articulation_label = labels[3].cast<std::vector<std::string>>();
  for (const py::handle spec : pickled["custom_specs"])
    model->custom_array_specs.push_back(custom_from_tuple(spec.cast<py::tuple>()));
  arrays_from_dict(*model, pickled, "model", -1);
  return model;
}

/// The pipeline that Model.collide() and Model.contacts() use when none is given, one a model while that
/// lives.
py::object pipeline_of(const py::object& model, const py::object& given) {
  if (!given.is_none()) return given;
  static PyObject* cache = py::module_::import("weakref").attr("WeakKeyDictionary")().release().ptr();
  const py::handle pipelines(cache);
  py::object pipeline = pipelines.attr("get")(model);
  if (pipeline.is_none()) {
    pipeline = py::module_::import("novaphy.collision").attr("CollisionPipeline")(model);
    pipelines.attr("__setitem__")(model, pipeline);
  }
  return pipeline;
}

py::object collide(const py::object& model, const py::object& state, py::object contacts,
                   const py::object& pipeline_or_none) {
  const py::object pipeline = pipeline_of(model, pipeline_or_none);
  if (contacts.is_none()) contacts = pipeline.attr("contacts")();
  pipeline.attr("collide")(state, contacts);
  return contacts;
}

void set_gravity(Model& self, const py::object& gravity, std::optional<int> world) {
  self.set_gravity(vec3_argument(gravity, "Model.set_gravity: gravity"), world);
}

std::shared_ptr<Control> make_control(const Model& self, std::optional<bool> requires_grad,
                                      bool clone_variables) {
  NOVAPHY_REQUIRE(
      clone_variables, ErrorKind::unsupported_feature,
      "Model.control: clone_variables=False would share the model's arrays; only True is supported");
  return self.control(requires_grad);
}

}  // namespace

void bind_model(py::module_& m) {
  py::class_<ParticleGrid>(m, "ParticleGrid",
                           "model.particle_grid = ParticleGrid() lets particles act on each other where they "
                           "touch. It costs next to nothing while no pair can.")
      .def(py::init<>())
      .def("__repr__", [](const ParticleGrid&) { return "ParticleGrid()"; });
  ModelClass model(m, "Model",
                   "Topology and parameters of a scene. Made by ModelBuilder.finalize(). Counts are fixed, "
                   "numbers may be assigned.");
#define X(name, dtype, frequency, width, doc) def_array(model, #name, &Model::name, doc);
#include "novaphy/model_arrays.inc"
  def_counts(model);
  def_contact_scalars(model);
  def_aliases(model);
  model
      .def(
          "state",
          [](const Model& self, std::optional<bool> requires_grad) { return self.state(requires_grad); },
          py::arg("requires_grad") = py::none(), "A state with the model's start values.")
      .def("control", &make_control, py::arg("requires_grad") = py::none(), py::arg("clone_variables") = true,
           "A control with the model's start values.")
      .def(
          "contacts",
          [](const py::object& self, const py::object& pipeline) {
            return pipeline_of(self, pipeline).attr("contacts")();
          },
          py::arg("collision_pipeline") = py::none(),
          "Buffers for the contacts of a pipeline, by default the model's own.")
      .def("collide", &collide, py::arg("state"), py::arg("contacts") = py::none(), py::kw_only(),
           py::arg("collision_pipeline") = py::none(),
           "Generates contacts for the poses of `state` and returns them.")
      .def("set_gravity", &set_gravity, py::arg("gravity"), integer("world") = py::none(),
           "Gravity of one world, or of all, m/s^2.")
      .def(
          "add_custom_array",
          [](Model& self, const std::string& name, const std::string& frequency, const py::object& dtype,
             int width, const py::object& default_value, const std::string& owner) {
            self.add_custom_array(custom_argument(name, frequency, dtype, width, default_value, owner));
          },
          py::arg("name"), py::arg("frequency"), py::arg("dtype") = "float32", integer("width") = 1,
          py::arg("default") = 0.0, py::arg("owner") = "model",
          "Adds an array to the model, or to every state, control or contacts made from now on.")
      .def("clone", &Model::clone, "A copy in memory of its own.")
      .def("__copy__", &Model::clone)
      .def(
          "__deepcopy__", [](const Model& self, const py::dict&) { return self.clone(); }, py::arg("memo"))
      .def("__repr__",
           [](const Model& self) {
             return text("Model(", self.particle_count, " particles, ", self.body_count, " bodies, ",
                         self.shape_count, " shapes, ", self.joint_count, " joints, device='",
                         to_string(self.device), "')");
           })
      .def(py::pickle(&model_to, &model_from));
}

}  // namespace novaphy::python
