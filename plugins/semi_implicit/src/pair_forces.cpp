// SPDX-License-Identifier: Apache-2.0
#include "src/pair_forces.hpp"

#include "novaphy/semi_implicit/formula/particle_particle.h"
#include "novaphy/semi_implicit/formula/triangle_particle.h"

namespace novaphy::semi_implicit {

void add_pair_forces(const Model& model, const TouchingPairs& pairs, std::span<const Vec3f> q,
                     std::span<const Vec3f> qd, std::span<Vec3f> total) {
  const auto radius = model.particle_radius.read<float>();
  const auto row = model.particle_contact_material.read<float>();
  const formula::ParticleContactMaterial<float> material{row[0], row[1], row[2], row[3]};
  for (const auto& [a, b] : pairs.particles()) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    const Vec3f apart = q[i] - q[j];
    const float gap = formula::particle_gap(apart, radius[i], radius[j]);
    const Vec3f force = formula::particle_contact_force(apart, qd[i] - qd[j], gap, material);
    total[i] = total[i] + force, total[j] = total[j] - force;
  }
  const float ke = model.soft_contact_material.read<float>()[0];
  for (const auto& pair : pairs.triangles()) {
    std::array<Vec3f, 4> x;
    for (std::size_t k = 0; k < 4; ++k) x[k] = q[static_cast<std::size_t>(pair[k])];
    const float r = radius[static_cast<std::size_t>(pair[0])];
    const auto forces = formula::triangle_contact_forces(formula::approach_triangle(x), r, ke);
    for (std::size_t k = 0; k < 4; ++k) {
      Vec3f& sum = total[static_cast<std::size_t>(pair[k])];
      sum = sum + forces[k];
    }
  }
}

}  // namespace novaphy::semi_implicit
