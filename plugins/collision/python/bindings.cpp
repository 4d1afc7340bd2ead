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
  if (!py::isinstance<py::str>(value)) return value.cast<BroadPhase>();
  const auto name = value.cast<std::string>();
  if (name == "explicit") return BroadPhase::explicit_pairs;
  if (name == "sap") return BroadPhase::sap;
  if (name == "nxn") return BroadPhase::nxn;
  fail(ErrorKind::value, "CollisionPipeline: there is no broad phase '", name,
       "'; give 'explicit', 'sap' or 'nxn'");
}

std::shared_ptr<CollisionPipeline> make_pipeline(std::shared_ptr<Model> model, const py::object& broad_phase,
                                                 double soft_contact_margin,
                                                 std::optional<double> soft_contact_gap,
                                                 std::optional<int> rigid_contact_max,
                                                 std::optional<int> soft_contact_max,
                                                 const py::object& shape_pairs_filtered) {
  NOVAPHY_REQUIRE(
      !soft_contact_gap || soft_contact_margin == 0.01, ErrorKind::value,
      "CollisionPipeline: soft_contact_gap is another name of soft_contact_margin; give one of them");
  NOVAPHY_REQUIRE(shape_pairs_filtered.is_none(), ErrorKind::unsupported_feature,
                  "CollisionPipeline: shape_pairs_filtered chooses pairs of shapes, and contact between "
                  "shapes is not generated "
                  "yet; leave it None");
  CollisionConfig config;
  config.broad_phase = broad_phase_argument(broad_phase);
  config.soft_contact_margin = static_cast<float>(soft_contact_gap.value_or(soft_contact_margin));
  config.rigid_contact_max = rigid_contact_max.value_or(-1);
  config.soft_contact_max = soft_contact_max.value_or(-1);
  return std::make_shared<CollisionPipeline>(std::move(model), config);
}

void collide(CollisionPipeline& self, const SimState& state, Contacts& contacts,
             std::optional<double> soft_contact_margin) {
  const float margin =
      soft_contact_margin ? static_cast<float>(*soft_contact_margin) : self.config().soft_contact_margin;
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
      "Generates particle-shape contacts. A particle within radius + shape margin + soft_contact_margin [m] "
      "of a shape gets "
      "a record; records come shape by shape, particles ascending. Contact topology is not differentiated, "
      "so requires_grad "
      "changes nothing; results never depend on threads, so deterministic changes nothing.");
  pipeline.attr("__module__") = "novaphy.collision";
  pipeline
      .def(py::init([](std::shared_ptr<Model> model, const py::object& broad_phase,
                       double soft_contact_margin, std::optional<double> soft_contact_gap,
                       std::optional<int> rigid_contact_max, std::optional<int> soft_contact_max,
                       const py::object& shape_pairs_filtered, bool, bool, std::optional<bool>) {
             return make_pipeline(std::move(model), broad_phase, soft_contact_margin, soft_contact_gap,
                                  rigid_contact_max, soft_contact_max, shape_pairs_filtered);
           }),
           py::arg("model"), py::kw_only(), py::arg("broad_phase") = "explicit",
           py::arg("soft_contact_margin") = 0.01, py::arg("soft_contact_gap") = py::none(),
           py::arg("rigid_contact_max") = py::none(), py::arg("soft_contact_max") = py::none(),
           py::arg("shape_pairs_filtered") = py::none(), py::arg("reduce_contacts") = true,
           py::arg("deterministic") = false, py::arg("requires_grad") = py::none())
      .def("contacts", &CollisionPipeline::contacts, "Buffers of this pipeline's capacities.")
      .def("collide", &collide, py::arg("state"), py::arg("contacts"), py::kw_only(),
           py::arg("soft_contact_margin") = py::none(),
           "Rewrites `contacts` from the poses in `state`. soft_contact_margin [m] overrides the pipeline's "
           "for this call.")
      .def_property_readonly("model", &CollisionPipeline::model)
      .def_property_readonly("soft_contact_margin",
                             [](const CollisionPipeline& self) { return self.config().soft_contact_margin; })
      .def_property_readonly("broad_phase",
                             [](const CollisionPipeline& self) { return self.config().broad_phase; });
}
