// SPDX-License-Identifier: Apache-2.0
// Pickling of ModelBuilder: its columns, defaults and what it remembers between calls.
#include "array_set.hpp"
#include "builder.hpp"

namespace novaphy {

/// The friend of ModelBuilder that sees what has no public name.
struct BuilderPickle {
  static pybind11::tuple hidden(const ModelBuilder& b) {
    pybind11::list custom;
    for (const CustomArray& spec : b.custom_arrays_) custom.append(python::custom_to_tuple(spec));
    return pybind11::make_tuple(static_cast<int>(b.up_axis_), b.current_world_, b.exact_body_mass_,
                                b.body_lock_inertia_, b.body_shapes_, b.world_shapes_,
                                b.joint_filters_parent_, b.shape_filter_pairs_, custom);
  }

  static void set_hidden(ModelBuilder& b, const pybind11::tuple& state) {
    b.up_axis_ = static_cast<Axis>(state[0].cast<int>());
    b.current_world_ = state[1].cast<int>();
    b.exact_body_mass_ = state[2].cast<std::vector<double>>();
    b.body_lock_inertia_ = state[3].cast<std::vector<std::uint8_t>>();
    b.body_shapes_ = state[4].cast<std::vector<std::vector<int>>>();
    b.world_shapes_ = state[5].cast<std::vector<int>>();
    b.joint_filters_parent_ = state[6].cast<std::vector<std::uint8_t>>();
    b.shape_filter_pairs_ = state[7].cast<std::set<std::pair<int, int>>>();
    for (const pybind11::handle spec : state[8])
      b.custom_arrays_.push_back(python::custom_from_tuple(spec.cast<pybind11::tuple>()));
  }
};

namespace python {
namespace {

/// Everything with a public name beside the columns; the attributes are those of the Python class.
constexpr const char* kDefaults[] = {
    "default_shape_cfg",   "default_joint_cfg",     "default_particle_radius", "default_tri_ke",
    "default_tri_ka",      "default_tri_kd",        "default_tri_drag",        "default_tri_lift",
    "default_edge_ke",     "default_edge_kd",       "default_spring_ke",       "default_spring_kd",
    "default_tet_density", "default_tet_k_mu",      "default_tet_k_lambda",    "default_tet_k_damp",
    "rigid_gap",           "particle_max_velocity", "default_gravity"};

}  // namespace

py::dict builder_to_dict(const ModelBuilder& builder) {
  py::dict defaults, columns;
  const py::object self = py::cast(&builder, py::return_value_policy::reference);
  for (const char* name : kDefaults) defaults[name] = self.attr(name);
#define X(name, dtype, frequency, width, doc)                                    \
  columns[#name] = py::bytes(reinterpret_cast<const char*>(builder.name.data()), \
                             builder.name.size() * sizeof(builder.name[0]));
#include "novaphy/model_arrays.inc"
  py::dict out;
  out["defaults"] = defaults;
  out["columns"] = columns;
  out["labels"] = py::make_tuple(builder.body_label, builder.shape_label, builder.joint_label,
                                 builder.articulation_label, builder.world_label);
  out["hidden"] = BuilderPickle::hidden(builder);
  return out;
}

std::shared_ptr<ModelBuilder> builder_from_dict(const py::dict& state) {
  auto builder = std::make_shared<ModelBuilder>();
  const py::object self = py::cast(builder);
  for (const auto& [name, value] : state["defaults"].cast<py::dict>()) py::setattr(self, name, value);
  const py::dict columns = state["columns"];
  const auto read = [&](const char* name, auto& column) {
    if (!columns.contains(name)) return;  // pickled by an older release, which did not have it
    const auto bytes = columns[name].cast<std::string_view>();
    column.resize(bytes.size() / sizeof(column[0]));
    if (!bytes.empty()) std::memcpy(column.data(), bytes.data(), bytes.size());
  };
#define X(name, dtype, frequency, width, doc) read(#name, builder->name);
#include "novaphy/model_arrays.inc"
  const py::tuple labels = state["labels"];
  std::vector<std::string>* const into[] = {&builder->body_label, &builder->shape_label,
                                            &builder->joint_label, &builder->articulation_label,
                                            &builder->world_label};
  for (std::size_t i = 0; i < std::size(into); ++i) *into[i] = labels[i].cast<std::vector<std::string>>();
  BuilderPickle::set_hidden(*builder, state["hidden"]);
  return builder;
}

}  // namespace python
}  // namespace novaphy
