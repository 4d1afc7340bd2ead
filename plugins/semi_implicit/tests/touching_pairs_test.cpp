// SPDX-License-Identifier: Apache-2.0
// Pairs that touch, found by cells, against the test of every pair; and the sentence on radii that overlap at
// rest.
#include "novaphy/semi_implicit/touching_pairs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "messages.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/semi_implicit/formula/particle_particle.h"
#include "novaphy/semi_implicit/formula/triangle_particle.h"
#include "scenes.hpp"

using namespace novaphy;
using semi_implicit::overlap_at_rest;
using semi_implicit::TouchingPairs;
namespace formula = semi_implicit::formula;

namespace {

/// Particles in a box of `half` m with radii from 0 to `radius`, and triangles between the first of them.
std::shared_ptr<Model> cloud(test::Random& random, int particles, int triangles, float half, float radius) {
  ModelBuilder builder;
  for (int p = 0; p < particles; ++p)
    builder.add_particle(random.in_box(half), random.in_box(1.0f), 1.0, random.between(0.0f, radius),
                         p % 13 == 4 ? 0 : ParticleFlags::ACTIVE);
  for (int t = 0; t < triangles; ++t) builder.add_triangle(3 * t, 3 * t + 1, 3 * t + 2);
  return builder.finalize();
}

std::vector<TouchingPairs::ParticlePair> every_particle_pair(const Model& model, std::span<const Vec3f> q) {
  const auto radius = model.particle_radius.read<float>();
  const auto flags = model.particle_flags.read<std::int32_t>();
  std::vector<TouchingPairs::ParticlePair> out;
  for (std::size_t i = 0; i < q.size(); ++i)
    for (std::size_t j = i + 1; j < q.size(); ++j)
      if ((flags[i] & flags[j] & ParticleFlags::ACTIVE) != 0 &&
          formula::particle_gap(q[i] - q[j], radius[i], radius[j]) <=
              model.particle_contact_material.read<float>()[4])
        out.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
  return out;
}

std::vector<TouchingPairs::TrianglePair> every_triangle_pair(const Model& model, std::span<const Vec3f> q) {
  const auto radius = model.particle_radius.read<float>();
  const auto corners = model.tri_indices.read<std::int32_t>();
  std::vector<TouchingPairs::TrianglePair> out;
  for (int t = 0; t < model.tri_count; ++t)
    for (std::size_t p = 0; p < q.size(); ++p) {
      const auto* c = &corners[static_cast<std::size_t>(t) * 3];
      const auto particle = static_cast<std::int32_t>(p);
      if (particle == c[0] || particle == c[1] || particle == c[2]) continue;
      const auto at = [&](std::int32_t k) { return q[static_cast<std::size_t>(k)]; };
      const auto approach = formula::approach_triangle<float>({q[p], at(c[0]), at(c[1]), at(c[2])});
      if (formula::touches_triangle(approach.distance, radius[p]))
        out.push_back({particle, c[0], c[1], c[2]});
    }
  return out;
}

}  // namespace

TEST_CASE("the pairs are those of testing every pair, while particles move, cluster and fly apart") {
  test::Random random(91);
  for (const float half : {0.3f, 1.0f, 4.0f}) {
    const auto model = cloud(random, 150, 30, half, 0.1f);
    model->particle_contact_material.write<float>()[4] = half < 1.0f ? 0.0f : 0.01f;
    std::vector<Vec3f> q, v;
    for (const Vec3f& x : model->particle_q.read<Vec3f>())
      q.push_back(x), v.push_back(random.in_box(0.6f) + Vec3f{9, 0, 0});
    TouchingPairs pairs;
    std::size_t particles = 0, triangles = 0;
    for (int step = 0; step < 120; ++step) {
      CAPTURE(step);
      pairs.find(*model, q, {.particles = true, .triangles = true});
      const auto wanted = every_particle_pair(*model, q);
      const auto wanted_triangles = every_triangle_pair(*model, q);
      REQUIRE(std::vector(pairs.particles().begin(), pairs.particles().end()) == wanted);
      REQUIRE(std::vector(pairs.triangles().begin(), pairs.triangles().end()) == wanted_triangles);
      particles += wanted.size(), triangles += wanted_triangles.size();
      for (std::size_t p = 0; p < q.size(); ++p) q[p] = q[p] + v[p] * 0.01f;
    }
    CHECK(particles > 20);
    CHECK(triangles > 5);
    CHECK(pairs.searches() < 60);
  }
}

TEST_CASE("a body that only falls is searched once") {
  test::Random random(3);
  const auto model = cloud(random, 60, 5, 1.0f, 0.001f);
  std::vector<Vec3f> q;
  for (const Vec3f& x : model->particle_q.read<Vec3f>()) q.push_back(x);
  TouchingPairs pairs;
  for (int step = 0; step < 400; ++step) {
    pairs.find(*model, q, {.particles = true, .triangles = true});
    for (Vec3f& x : q) x = x + Vec3f{0.0f, 0.01f, -0.02f};
  }
  CHECK(pairs.empty());
  CHECK(pairs.searches() <= 3);  // float32 rounds the positions differently as they grow
}

TEST_CASE("positions that are not finite touch nothing, the others still do") {
  ModelBuilder builder;
  for (const float x : {0.0f, 0.15f, 5.0f, 5.1f}) builder.add_particle({x, 0, 0}, {0, 0, 0}, 1.0, 0.1);
  const auto model = builder.finalize();
  std::vector<Vec3f> q;
  for (const Vec3f& x : model->particle_q.read<Vec3f>()) q.push_back(x);
  q[0].x = std::numeric_limits<float>::quiet_NaN();
  q[1].y = std::numeric_limits<float>::infinity();
  TouchingPairs pairs;
  pairs.find(*model, q, {.particles = true});
  REQUIRE(pairs.particles().size() == 1);
  CHECK(pairs.particles()[0] == TouchingPairs::ParticlePair{2, 3});
}

TEST_CASE(
    "particles of two worlds do not meet, radii and cohesion may change, nothing wanted is nothing found") {
  ModelBuilder one;
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, 0.1);
  one.add_particle({0.3f, 0, 0}, {0, 0, 0}, 1.0, 0.1);
  ModelBuilder builder;
  builder.add_world(one);
  builder.add_world(one);
  const auto model = builder.finalize();
  const auto q = model->particle_q.read<Vec3f>();
  TouchingPairs pairs;
  pairs.find(*model, q, {.particles = true});
  CHECK(pairs.particles().empty());
  model->particle_contact_material.write<float>()[4] = 0.15f;
  pairs.find(*model, q, {.particles = true});
  CHECK(pairs.particles().size() == 2);
  model->particle_contact_material.write<float>()[4] = 0.0f;
  for (float& radius : model->particle_radius.write<float>()) radius = 0.2f;
  pairs.find(*model, q, {.particles = true});
  CHECK(pairs.particles().size() == 2);
  pairs.find(*model, q, {});
  CHECK(pairs.empty());
}

TEST_CASE("radii that overlap at rest are named with the first pair, its distance, and how many there are") {
  ModelBuilder builder;
  for (int p = 0; p < 4; ++p)
    builder.add_particle({0.01f * static_cast<float>(p), 0, 0}, {0, 0, 0}, 1.0, 0.1);
  builder.add_particle({0.0f, 0.05f, 0}, {0, 0, 0}, 1.0, 0.001);
  builder.add_triangle(0, 3, 4);
  const auto model = builder.finalize();
  CHECK(overlap_at_rest(*model, {.particles = true}) ==
        "particles 0 and 1 are 0.01 m apart at rest, less than their radii, which sum to 0.2 m, and so are 9 "
        "more pairs: "
        "they push each other from the first step on; give a smaller particle_radius, or set "
        "model.particle_grid to None");
  for (float& radius : model->particle_radius.write<float>()) radius = 0.005f;
  CHECK(overlap_at_rest(*model, {.particles = true}).empty());  // they meet exactly
  model->particle_q.write<Vec3f>()[1].z = 0.004f;
  CHECK(overlap_at_rest(*model, {.triangles = true}) ==
        "particle 1 is 0.004 m from the triangle of particles 0, 3 and 4 at rest, less than its radius of "
        "0.005 m: they push "
        "each other from the first step on; give a smaller particle_radius, or enable_tri_contact=False");
}

TEST_CASE("a triangle with a corner that does not exist is named") {
  ModelBuilder builder;
  for (int p = 0; p < 4; ++p)
    builder.add_particle({static_cast<float>(p % 2), static_cast<float>(p / 2), 0}, {0, 0, 0}, 1.0, 0.1);
  builder.add_triangle(0, 1, 2);
  const auto model = builder.finalize();
  model->tri_indices.write<std::int32_t>()[1] = 9;
  TouchingPairs pairs;
  CHECK(test::message_of([&] { pairs.find(*model, model->particle_q.read<Vec3f>(), {.triangles = true}); },
                         ErrorKind::index) == "triangle 0 has the corner 9, the model has 4 particles");
}

TEST_CASE("too many near pairs are an error that says what to do") {
  ModelBuilder builder;
  for (int p = 0; p < 8100; ++p)
    builder.add_particle({1e-4f * static_cast<float>(p), 0, 0}, {0, 0, 0}, 1.0, 1.0);
  const auto model = builder.finalize();
  TouchingPairs pairs;
  CHECK(test::message_of([&] { pairs.find(*model, model->particle_q.read<Vec3f>(), {.particles = true}); },
                         ErrorKind::value) ==
        "more than 32000000 pairs of particles are near each other; give the particles a smaller radius, or "
        "switch this "
        "contact off");
}
