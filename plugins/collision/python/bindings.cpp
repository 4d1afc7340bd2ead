// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_collision: CollisionPipeline and BroadPhase.
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/python.hpp"

namespace py = pybind11;

namespace {

using namespace novaphy;

/// Below this many (shape, particle) pairs releasing the GIL costs more than the work.
constexpr std::int64_t kFewPairs = 4096;

BroadPhase broad_phase_argument(const py::object& value) {
  if (py::isinstance<BroadPhase>(value)) return value.cast<BroadPhase>();
  const auto name = std::string(value.is_none() ? py::str("explicit") : py::str(value));
  if (name == "explicit") return BroadPhase::explicit_pairs;
  if (name == "sap") return BroadPhase::sap;
  if (name == "nxn") return BroadPhase::nxn;
  fail(ErrorKind::value, "CollisionPipeline: there is no broad phase '", name,
       "'; give 'explicit', 'sap' or 'nxn'");
}

/// -1 = as many as there can be.
int capacity_argument(const char* name, const std::optional<int>& value) {
  NOVAPHY_REQUIRE(!value || *value >= 0, ErrorKind::value, "CollisionPipeline: ", name, " is ",
                  value.value_or(0), "; give a number of at least 0, or None for as many as there can be");
  return value.value_or(-1);
}

/// soft_contact_margin, or its other name soft_contact_gap; neither = `standard`.
float margin_argument(const char* where, std::optional<double> margin, std::optional<double> gap,
                      float standard) {
  NOVAPHY_REQUIRE(!margin || !gap, ErrorKind::value, where,
                  ": soft_contact_gap is another name of soft_contact_margin; give one of them");
  const std::optional<double> given = margin ? margin : gap;
  return given ? static_cast<float>(*given) : standard;
}

std::shared_ptr<CollisionPipeline> make_pipeline(std::shared_ptr<Model> model, const py::object& broad_phase,
                                                 std::optional<double> soft_contact_margin,
                                                 std::optional<double> soft_contact_gap,
                                                 std::optional<int> rigid_contact_max,
                                                 std::optional<int> soft_contact_max,
                                                 const py::object& shape_pairs_filtered) {
  python::require_model(model, "CollisionPipeline");
  NOVAPHY_REQUIRE(shape_pairs_filtered.is_none(), ErrorKind::unsupported_feature,
                  "CollisionPipeline: shape_pairs_filtered chooses pairs of shapes, and contact between "
                  "shapes is not generated "
                  "yet; leave it None");
  CollisionConfig config;
  config.broad_phase = broad_phase_argument(broad_phase);
  config.soft_contact_margin =
      margin_argument("CollisionPipeline", soft_contact_margin, soft_contact_gap, config.soft_contact_margin);
  config.rigid_contact_max = capacity_argument("rigid_contact_max", rigid_contact_max);
  config.soft_contact_max = capacity_argument("soft_contact_max", soft_contact_max);
  return std::make_shared<CollisionPipeline>(std::move(model), config);
}

void collide(CollisionPipeline& self, const SimState& state, Contacts& contacts,
             std::optional<double> soft_contact_margin, std::optional<double> soft_contact_gap) {
  const float margin = margin_argument("CollisionPipeline.collide", soft_contact_margin, soft_contact_gap,
                                       self.config().soft_contact_margin);
  std::optional<py::gil_scoped_release> release;
  if (std::int64_t{self.model()->shape_count} * self.model()->particle_count > kFewPairs) release.emplace();
  self.collide_within(state, contacts, margin);
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_collision, m) {
  py::native_enum<BroadPhase>(m, "BroadPhase", "enum.IntEnum", "How candidate pairs of shapes are found.")
      .value("Explicit", BroadPhase::explicit_pairs)
      .value("SAP", BroadPhase::sap)
      .value("AllPairs", BroadPhase::nxn)
      .finalize();

  py::class_<CollisionPipeline, ICollisionPipeline, py::smart_holder> pipeline(
      m, "CollisionPipeline",
      "Generates particle-shape contacts. A particle within radius + shape margin + soft_contact_margin "
      "(0.01 m "
      "where none is given) "
      "of a shape gets "
      "a record; records come shape by shape, particles ascending. Contact topology is not differentiated, "
      "so requires_grad "
      "changes nothing; results never depend on threads, so deterministic changes nothing.");
  pipeline.attr("__module__") = "novaphy.collision";
  pipeline
      .def(py::init([](std::shared_ptr<Model> model, const py::object& broad_phase,
                       std::optional<double> soft_contact_margin, std::optional<double> soft_contact_gap,
                       std::optional<int> rigid_contact_max, std::optional<int> soft_contact_max,
                       const py::object& shape_pairs_filtered, bool, bool, std::optional<bool>) {
             return make_pipeline(std::move(model), broad_phase, soft_contact_margin, soft_contact_gap,
                                  rigid_contact_max, soft_contact_max, shape_pairs_filtered);
           }),
           py::arg("model"), py::kw_only(), py::arg("broad_phase") = "explicit",
           py::arg("soft_contact_margin") = py::none(), py::arg("soft_contact_gap") = py::none(),
           python::integer("rigid_contact_max") = py::none(),
           python::integer("soft_contact_max") = py::none(), py::arg("shape_pairs_filtered") = py::none(),
           py::arg("reduce_contacts") = true, py::arg("deterministic") = false,
           py::arg("requires_grad") = py::none())
      .def("contacts", &CollisionPipeline::contacts, "Buffers of this pipeline's capacities.")
      .def("collide", &collide, py::arg("state"), py::arg("contacts"), py::kw_only(),
           py::arg("soft_contact_margin") = py::none(), py::arg("soft_contact_gap") = py::none(),
           "Rewrites `contacts` from the poses in `state`. soft_contact_margin [m], also called "
           "soft_contact_gap, overrides the pipeline's for this call.")
      .def_property_readonly("model", &CollisionPipeline::model)
      .def_property_readonly("soft_contact_margin",
                             [](const CollisionPipeline& self) { return self.config().soft_contact_margin; })
      .def_property_readonly("broad_phase",
                             [](const CollisionPipeline& self) { return self.config().broad_phase; });
}
