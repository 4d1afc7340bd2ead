// SPDX-License-Identifier: Apache-2.0
// The parts of ModelBuilder's binding, one file a topic.
#pragma once

#include "bindings.hpp"
#include "novaphy/builder.hpp"

namespace novaphy::python {

using BuilderClass = py::class_<ModelBuilder, py::smart_holder>;

/// Axis, its number or letter, or three numbers.
Vec3f axis_vector(const py::handle& value, const std::string& where);

void bind_builder_configs(py::handle builder_class);
void bind_builder_particles(BuilderClass& cls);
void bind_builder_meshes(BuilderClass& cls);
void bind_builder_bodies(BuilderClass& cls);
void bind_builder_joints(BuilderClass& cls);
void bind_builder_columns(py::module_& m, BuilderClass& cls);

/// For pickle.
py::dict builder_to_dict(const ModelBuilder& builder);
std::shared_ptr<ModelBuilder> builder_from_dict(const py::dict& state);

/// None = empty.
inline std::optional<Transformf> optional_transform(const py::object& value, const std::string& where) {
  if (value.is_none()) return std::nullopt;
  return transform_argument(value, where);
}
inline std::optional<Vec3f> optional_vec3(const py::object& value, const std::string& where) {
  if (value.is_none()) return std::nullopt;
  return vec3_argument(value, where);
}

}  // namespace novaphy::python
