// SPDX-License-Identifier: Apache-2.0
// Scenes of the tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

#include "novaphy/builder.hpp"

namespace novaphy::test {

/// Uniform numbers that are the same on every machine.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  float between(float low, float high) {
    return low + (high - low) * (static_cast<float>(engine_() >> 8) * (1.0f / 16777216.0f));
  }
  Vec3f in_box(float half) { return {between(-half, half), between(-half, half), between(-half, half)}; }
  Quatf rotation() {
    Quatf q{between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)};
    while (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w < 0.1f) q.w += 0.5f;
    return normalize(q);
  }

 private:
  std::mt19937 engine_;
};

inline void set_soft_contact_material(Model& model, float ke, float kd, float kf, float mu) {
  const auto material = model.soft_contact_material.write<float>();
  material[0] = ke, material[1] = kd, material[2] = kf, material[3] = mu;
}

/// A ball thrown at a wall over the ground, as in Newton's example_diffsim_ball.
inline std::shared_ptr<Model> ball_model(bool requires_grad = false) {
  ModelBuilder builder;
  builder.add_particle({0, -0.5f, 1}, {0, 5, -5}, 1.0);
  ShapeConfig cfg;
  cfg.ke = 1e4, cfg.kf = 0, cfg.kd = 10, cfg.mu = 0.2;
  builder.add_shape_box(-1, 1, 0.25, 1, {.xform = Transformf{{0, 2, 1}, {0, 0, 0, 1}}, .cfg = cfg});
  builder.add_ground_plane(0.0, cfg);
  auto model = builder.finalize({}, requires_grad);
  set_soft_contact_material(*model, 1e4f, 10.0f, 0.0f, 0.2f);
  return model;
}

/// Particles in a box of 2 m among twelve shapes: three each of plane, box, sphere and capsule, turned at
/// random, with unlike materials, friction included; some particles are fixed, some inactive.
inline std::shared_ptr<Model> crowded_model(int particles, bool requires_grad = false) {
  Random random(20);
  ModelBuilder builder;
  for (int p = 0; p < particles; ++p)
    builder.add_particle(random.in_box(1.0f), random.in_box(2.0f),
                         p % 97 == 5 ? 0.0 : random.between(0.5f, 2.0f), random.between(0.02f, 0.1f),
                         p % 89 == 7 ? 0 : ParticleFlags::ACTIVE);
  for (int s = 0; s < 12; ++s) {
    ShapeConfig cfg;
    cfg.ke = random.between(500, 3000), cfg.kd = random.between(0, 20), cfg.kf = random.between(0, 30);
    cfg.mu = random.between(0, 1), cfg.margin = random.between(0, 0.02f);
    const ShapeArgs args{.xform = Transformf{random.in_box(1.0f), random.rotation()}, .cfg = cfg};
    const ShapeArgs away{.xform = Transformf{random.in_box(0.2f), random.rotation()}, .cfg = cfg};
    if (s % 4 == 0)
      builder.add_shape_plane({0, 0, 1, 0}, s == 8 ? 0 : 0.8, s == 8 ? 0 : 0.5, -1, s == 8 ? away : args);
    if (s % 4 == 1)
      builder.add_shape_box(-1, random.between(0.1f, 0.4f), 0.2, random.between(0.1f, 0.4f), args);
    if (s % 4 == 2) builder.add_shape_sphere(-1, random.between(0.1f, 0.4f), args);
    if (s % 4 == 3)
      builder.add_shape_capsule(-1, random.between(0.1f, 0.2f), random.between(0.1f, 0.4f), args);
  }
  auto model = builder.finalize({}, requires_grad);
  set_soft_contact_material(*model, 1200.0f, 5.0f, 12.0f, 0.4f);
  return model;
}

}  // namespace novaphy::test
