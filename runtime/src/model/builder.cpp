// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: making one, worlds, custom arrays.
#include "novaphy/builder.hpp"

#include "model/array_layout.hpp"
#include "model/builder_support.hpp"

namespace novaphy {
namespace {

constexpr float kStandardGravity = -9.81f;

Vec3f unit_vector(Axis axis) {
  return {axis == Axis::X ? 1.0f : 0.0f, axis == Axis::Y ? 1.0f : 0.0f, axis == Axis::Z ? 1.0f : 0.0f};
}

}  // namespace

ModelBuilder::ModelBuilder(Axis up_axis, const std::optional<Vec3f>& gravity_vector) : up_axis_(up_axis) {
  default_gravity = gravity_vector.value_or(unit_vector(up_axis) * kStandardGravity);
  Arguments("ModelBuilder").finite("gravity", default_gravity);
}

ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(const ModelBuilder&) = default;
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(const ModelBuilder&) = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;

Vec3f ModelBuilder::up_vector() const {
  return unit_vector(up_axis_);
}

int ModelBuilder::begin_world(const std::string& label, const std::optional<Vec3f>& gravity_vector) {
  const Arguments check("begin_world");
  check.require(current_world_ < 0, ErrorKind::generic, "world ", current_world_,
                " has not ended: call end_world first, worlds do not nest");
  const Vec3f own_gravity = gravity_vector.value_or(default_gravity);
  check.finite("gravity", own_gravity);
  current_world_ = world_count();
  append(gravity, own_gravity);
  world_label.push_back(label.empty() ? text("world_", current_world_) : label);
  return current_world_;
}

void ModelBuilder::end_world() {
  Arguments("end_world")
      .require(current_world_ >= 0, ErrorKind::generic, "no world has begun: call begin_world first");
  current_world_ = -1;
}

void ModelBuilder::add_custom_array(const CustomArray& spec) {
  check_custom_array(spec, custom_arrays_);
  custom_arrays_.push_back(spec);
}

}  // namespace novaphy
