// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_semi_implicit_diff: DiffSemiImplicitSolver, DiffSolverConfig and the particle operators
// of novaphy.diff.
#include <pybind11/stl.h>

#include <type_traits>

#include "../diff/elements.hpp"
#include "../diff/materials.hpp"
#include "../diff/particles.hpp"
#include "force_names.hpp"
#include "novaphy/python.hpp"
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"
#include "bind_push_box.hpp"
#include "step_binding.hpp"

namespace py = pybind11;

namespace {

using namespace novaphy;

DiffSolverConfig make_config(double angular_damping, std::optional<double> friction_smoothing,
                             std::optional<std::string> friction_law, double soft_contact_margin,
                             bool enable_particles, bool enable_tetrahedra, bool enable_triangles,
                             bool enable_contacts, bool enable_rigid, bool enable_tri_contact,
                             bool strict, bool check_stability, bool check_finite,
                             const python::GivenForces& forces) {
  DiffSolverConfig config;
  config.angular_damping = static_cast<float>(angular_damping);
  if (friction_smoothing) config.friction_smoothing = static_cast<float>(*friction_smoothing);
  config.friction_law = std::move(friction_law);
  config.soft_contact_margin = static_cast<float>(soft_contact_margin);
  config.enable_particles = enable_particles, config.enable_tetrahedra = enable_tetrahedra;
  config.enable_triangles = enable_triangles, config.enable_contacts = enable_contacts;
  config.enable_rigid = enable_rigid, config.enable_tri_contact = enable_tri_contact;
  config.strict = strict;
  config.check_stability = check_stability, config.check_finite = check_finite;
  config.forces = python::force_names(forces, "DiffSolverConfig");
  return config;
}

/// Calls visit(name, member) for every field.
template <class Visit>
void each_field(Visit visit) {
  visit("angular_damping", &DiffSolverConfig::angular_damping);
  visit("friction_smoothing", &DiffSolverConfig::friction_smoothing);
  visit("friction_law", &DiffSolverConfig::friction_law);
  visit("soft_contact_margin", &DiffSolverConfig::soft_contact_margin);
  visit("enable_particles", &DiffSolverConfig::enable_particles);
  visit("enable_tetrahedra", &DiffSolverConfig::enable_tetrahedra);
  visit("enable_triangles", &DiffSolverConfig::enable_triangles);
  visit("enable_contacts", &DiffSolverConfig::enable_contacts);
  visit("enable_rigid", &DiffSolverConfig::enable_rigid);
  visit("enable_tri_contact", &DiffSolverConfig::enable_tri_contact);
  visit("strict", &DiffSolverConfig::strict);
  visit("check_stability", &DiffSolverConfig::check_stability);
  visit("check_finite", &DiffSolverConfig::check_finite);
  visit("forces", &DiffSolverConfig::forces);
}

py::dict fields_of(const DiffSolverConfig& config) {
  py::dict fields;
  each_field([&](const char* name, auto member) { fields[name] = config.*member; });
  return fields;
}

DiffSolverConfig config_of(const py::dict& fields) {
  DiffSolverConfig config;
  each_field([&](const char* name, auto member) {
    config.*member = fields[name].cast<std::remove_reference_t<decltype(config.*member)>>();
  });
  return config;
}

std::string describe(const DiffSolverConfig& config) {
  std::string out;
  for (const auto& [name, value] : fields_of(config))
    out += (out.empty() ? "DiffSolverConfig(" : ", ") + std::string(py::str(name)) + "=" +
           std::string(py::repr(value));
  return out + ")";
}

void bind_config(py::module_& m) {
  py::class_<DiffSolverConfig> config(
      m, "DiffSolverConfig",
      "What DiffSemiImplicitSolver steps. strict=False skips what it cannot step and lists it "
      "in solver.skipped. forces: names of forces that plugins publish, added in this order after the "
      "solver's own. check_stability and check_finite are those of SolverSemiImplicit.");
  config.attr("__module__") = "novaphy.solvers";  // where pickle finds it
  config
      .def(py::init(&make_config), py::kw_only(), py::arg("angular_damping") = 0.05,
           py::arg("friction_smoothing") = py::none(), py::arg("friction_law") = py::none(),
           py::arg("soft_contact_margin") = 0.0, py::arg("enable_particles") = true,
           py::arg("enable_tetrahedra") = true, py::arg("enable_triangles") = true,
           py::arg("enable_contacts") = true, py::arg("enable_rigid") = true,
           py::arg("enable_tri_contact") = true, py::arg("strict") = true,
           py::arg("check_stability") = true, py::arg("check_finite") = true, py::arg("forces") = py::tuple())
      .def("__repr__", &describe)
      .def(
          "__eq__",
          [](const DiffSolverConfig& self, const DiffSolverConfig& other) {
            return fields_of(self).equal(fields_of(other));
          },
          py::is_operator())
      .def(py::pickle(&fields_of, &config_of));
  config.attr("__hash__") = py::none();  // its fields may change
  each_field([&](const char* name, auto member) {
    if constexpr (std::is_same_v<decltype(member), decltype(&DiffSolverConfig::forces)>)
      config.def_property(
          name, [](const DiffSolverConfig& self) { return self.forces; },
          [](DiffSolverConfig& self, const python::GivenForces& given) {
            self.forces = python::force_names(given, "DiffSolverConfig");
          });
    else
      config.def_readwrite(name, member);
  });
}

void bind_solver(py::module_& m) {
  py::class_<DiffSemiImplicitSolver, ISolver, py::smart_holder> solver(
      m, "DiffSemiImplicitSolver",
      "The step of SolverSemiImplicit from generated kernels, recorded on the open tape. Forward results are "
      "the same bits.");
  solver.attr("__module__") = "novaphy.solvers";
  solver.def(py::init([](std::shared_ptr<Model> model, const std::optional<DiffSolverConfig>& given,
                         const std::optional<python::GivenForces>& given_forces) {
               python::require_model(model, "DiffSemiImplicitSolver");
               DiffSolverConfig config = given.value_or(DiffSolverConfig{});
               std::optional<std::vector<std::string>> forces;
               if (given_forces) forces = python::force_names(*given_forces, "DiffSemiImplicitSolver");
               NOVAPHY_REQUIRE(
                   !forces || config.forces.empty() || *forces == config.forces, ErrorKind::value,
                   "DiffSemiImplicitSolver: forces are given twice, in the config too; give them once");
               if (forces) config.forces = std::move(*forces);
               return std::make_shared<DiffSemiImplicitSolver>(std::move(model), config);
             }),
             py::arg("model"), py::arg("config") = py::none(), py::kw_only(), py::arg("forces") = py::none());
  python::def_step(solver);
  solver
      .def_property_readonly(
          "config", [](const DiffSemiImplicitSolver& self) { return self.config(); },
          "A copy: a solver keeps what it was made with.")
      .def_property_readonly(
          "forces", [](const DiffSemiImplicitSolver& self) { return self.config().forces; },
          "Names of the forces of other plugins, in the order of addition.")
      .def_property_readonly("skipped", &DiffSemiImplicitSolver::skipped, "What strict=False left out.")
      .def_readwrite("forward_only", &DiffSemiImplicitSolver::forward_only,
                     "On: steps are not recorded even while a tape is open.")
      .def_property_readonly("supports_in_place", [](const DiffSemiImplicitSolver&) { return false; });
}

void bind_operators(py::module_& m) {
  using nova::Tensor;
  m.def(
      "integrate_particles_generated",
      [](const Model& model, const Tensor& particle_q, const Tensor& particle_qd, const Tensor& particle_f,
         double dt) {
        const auto next = semi_implicit::integrate_particles_generated(model, particle_q, particle_qd,
                                                                       particle_f, static_cast<float>(dt));
        return py::make_tuple(next.q, next.qd);
      },
      py::arg("model"), py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"), py::arg("dt"),
      "(particle_q_next [m], particle_qd_next [m/s]), new tensors (P, 3), after one semi-implicit step of dt "
      "[s] from position, velocity and force [N]. ShapeMismatchError names the argument, ValueError a dt "
      "that is not positive.");
  m.def(
      "integrate_particles_with_static_contacts_generated",
      [](const Model& model, const Tensor& particle_q, const Tensor& particle_qd, const Tensor& particle_f,
         double soft_contact_margin, double dt, bool ignore_body_shapes) {
        const auto next = semi_implicit::integrate_particles_with_static_contacts_generated(
            model, particle_q, particle_qd, particle_f, static_cast<float>(soft_contact_margin),
            static_cast<float>(dt), ignore_body_shapes);
        return py::make_tuple(next.q, next.qd);
      },
      py::arg("model"), py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"),
      py::arg("soft_contact_margin"), py::arg("dt"), py::kw_only(), py::arg("ignore_body_shapes") = false,
      "The same after adding the contact forces of shapes of the world within soft_contact_margin [m], in "
      "one kernel. UnsupportedFeatureError for shapes on bodies unless ignore_body_shapes, and for other "
      "shapes.");
}

void bind_element_forces(py::module_& m) {
  using nova::Tensor;
  m.def("eval_tetrahedra_forces_generated", &semi_implicit::eval_tetrahedra_forces_generated,
        py::arg("model"), py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"),
        py::arg("tet_activations"), py::arg("tet_materials"),
        "particle_f [N] (P, 3) plus the forces of all tetrahedra, a new tensor. tet_activations is (T), "
        "tet_materials (T, 3) = k_mu [Pa], k_lambda [Pa], k_damp. A tetrahedron with k_lambda = 0 has no "
        "volume force. ShapeMismatchError names the argument.");
  m.def(
      "eval_spring_forces_generated",
      [](const Model& model, const Tensor& particle_q, const Tensor& particle_qd, const Tensor& particle_f,
         std::optional<Tensor> ke, std::optional<Tensor> kd, std::optional<Tensor> rest_length) {
        return semi_implicit::eval_spring_forces_generated(
            model, particle_q, particle_qd, particle_f,
            {std::move(ke), std::move(kd), std::move(rest_length)});
      },
      py::arg("model"), py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"),
      py::arg("spring_ke") = py::none(), py::arg("spring_kd") = py::none(),
      py::arg("spring_rest_length") = py::none(),
      "particle_f [N] (P, 3) plus the forces of all springs, a new tensor. spring_ke [N/m], spring_kd [N "
      "s/m] and spring_rest_length [m] are (S); None = the model's arrays. ShapeMismatchError names the "
      "argument.");
  m.def("assign_tet_materials_generated", &semi_implicit::assign_tet_materials_generated, py::arg("material_params"),
        py::arg("base_tet_materials"), novaphy::python::integer("tet_count"),
        "(tet_count, 3): k_mu and k_lambda [Pa] from material_params, 2 numbers that all tetrahedra share or 2 for each, "
        "and k_damp of base_tet_materials (tet_count, 3). The gradient of shared parameters is the sum over the "
        "tetrahedra. ValueError for another number of parameters, ShapeMismatchError.");
  m.def("eval_triangle_forces_generated", &semi_implicit::eval_triangle_forces_generated, py::arg("model"),
        py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"), py::arg("tri_activations"),
        py::arg("tri_materials"),
        "particle_f [N] (P, 3) plus the membrane, area, drag and lift forces of all triangles, a new tensor. "
        "tri_activations is (F), tri_materials (F, 5) = ke, ka [N/m], kd [N s/m], drag, lift. A triangle with ka = 0 "
        "has no area force. ShapeMismatchError names the argument.");
  m.def("eval_bending_forces_generated", &semi_implicit::eval_bending_forces_generated, py::arg("model"),
        py::arg("particle_q"), py::arg("particle_qd"), py::arg("particle_f"),
        py::arg("edge_bending_properties") = py::none(), py::arg("edge_rest_angle") = py::none(),
        "particle_f [N] (P, 3) plus the forces of all bending edges, a new tensor. edge_bending_properties is (E, 2) = "
        "ke, kd, edge_rest_angle (E) [rad]; None = the model's arrays. An edge with an index below 0 has no force. "
        "ShapeMismatchError names the argument.");
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_semi_implicit_diff, m) {
  // registers the class that is taken and returned; an accessor alone would look nothing up
  const py::object tensor = py::module_::import("novaphy.nova").attr("Tensor");
  bind_config(m);
  bind_solver(m);
  bind_operators(m);
  bind_element_forces(m);
  python::bind_push_box(m);
}
