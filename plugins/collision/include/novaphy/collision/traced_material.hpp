// SPDX-License-Identifier: Apache-2.0
// How kernels read contact materials: the model's from its one row, the shape's from a row a shape.
#pragma once

#include <string_view>

#include "novaphy/array.hpp"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/model.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::collision {

/// Model::soft_contact_material as a row of ke, kd, kf, mu: same memory, same gradient.
inline DeviceArray soft_contact_row(const Model& model) {
  return DeviceArray(model.soft_contact_material.storage(), DType::f32, {1, 4});
}

/// Model::particle_contact_material as a row; the last number is the adhesion.
inline DeviceArray particle_contact_row(const Model& model) {
  return DeviceArray(model.particle_contact_material.storage(), DType::f32, {1, 6});
}

/// The mean of the model's material, input "soft" (vec4), and the shape's, inputs "ke", "kd", "kf", "mu".
inline formula::SoftContactMaterial<nova::Expr> contact_material(nova::KernelScope& k) {
  const nova::Vec4E soft = k.vec4("soft");
  return formula::mix<nova::Expr>({soft.x, soft.y, soft.z, soft.w},
                                  {k.f32("ke"), k.f32("kd"), k.f32("kf"), k.f32("mu")});
}

/// Whether a particle whose gap is this touches. Input "particle_material" (spatial) holds the adhesion last.
inline nova::Mask touches(nova::KernelScope& k, nova::Expr gap) {
  return negate(gap > k.spatial("particle_material").angular.z);
}

/// Whether the particle of this row is active. Input "flags".
inline nova::Mask is_active(nova::KernelScope& k) {
  return (k.flags("flags") & nova::Int(ParticleFlags::ACTIVE)) != nova::Int(0);
}

}  // namespace novaphy::collision
