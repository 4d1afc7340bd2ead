// SPDX-License-Identifier: Apache-2.0
// Near pairs by cells, kept with a skin; then the exact test of each.
#include "novaphy/semi_implicit/touching_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "novaphy/collision/soft_contact_generator.hpp"
#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/semi_implicit/formula/particle_particle.h"
#include "novaphy/semi_implicit/formula/triangle_particle.h"
#include "src/particle_cells.hpp"

namespace novaphy::semi_implicit {

namespace {

constexpr std::int64_t kOften = 32;   // steps between two searches below which the skin grows
constexpr std::int64_t kForget = 64;  // searches after which a skin that was too large is tried again
constexpr float kLeastSkin = 1e-3f;   // m, where radii are 0

float largest(std::span<const float> values) {
  float most = 0.0f;
  for (const float value : values) most = std::max(most, value);
  return most;
}

float largest_coordinate(const Vec3f& x) {
  return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)});
}

/// What float32 may be wrong by in a distance between points with coordinates up to `most`.
float rounding_of(float most) {
  return 5e-7f * most;
}

Vec3f lowest(const Vec3f& a, const Vec3f& b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
Vec3f highest(const Vec3f& a, const Vec3f& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

constexpr float kTrust = 1e-3f;

/// The normal of a triangle, or 0 where it is so thin that rounding may turn it. `extent` [m] is that of its
/// surroundings.
Vec3f trusted_normal(const Vec3f& a, const Vec3f& b, const Vec3f& c, float extent) {
  const Vec3f across = cross(b - a, c - a);
  return length(across) > kTrust * extent * extent ? normalize(across) : Vec3f{0.0f, 0.0f, 0.0f};
}

void require_room(std::size_t near, const char* what) {
  NOVAPHY_REQUIRE(static_cast<std::int64_t>(near) <= TouchingPairs::kMostNear, ErrorKind::value, "more than ",
                  TouchingPairs::kMostNear, " pairs of ", what,
                  " are near each other; give the particles a smaller radius, or switch this contact off");
}

std::array<Vec3f, 4> positions_of(std::span<const Vec3f> q, const TouchingPairs::TrianglePair& pair) {
  std::array<Vec3f, 4> out;
  for (std::size_t k = 0; k < 4; ++k) out[k] = q[static_cast<std::size_t>(pair[k])];
  return out;
}

}  // namespace

void TouchingPairs::find(const Model& model, std::span<const Vec3f> q, Wanted wanted) {
  particles_.clear(), triangles_.clear();
  wanted.particles &= q.size() > 1;
  wanted.triangles &= model.tri_count > 0;
  if (!wanted.any()) return;
  ++steps_since_search_;
  if (!is_near_current(model, q, wanted)) search(model, q, wanted);

  const auto radius = model.particle_radius.read<float>();
  const auto flags = model.particle_flags.read<std::int32_t>();
  const auto world = model.particle_world.read<std::int32_t>();
  for (const ParticlePair& pair : near_particles_) {
    const auto i = static_cast<std::size_t>(pair[0]), j = static_cast<std::size_t>(pair[1]);
    if ((flags[i] & flags[j] & ParticleFlags::ACTIVE) == 0 || !share_a_world(world[i], world[j])) continue;
    if (formula::particle_gap(q[i] - q[j], radius[i], radius[j]) <= cohesion_) particles_.push_back(pair);
  }
  const auto corners = model.tri_indices.read<std::int32_t>();
  for (const auto& [triangle, particle] : near_triangles_) {
    const auto* corner = &corners[static_cast<std::size_t>(triangle) * 3];
    const TrianglePair pair{particle, corner[0], corner[1], corner[2]};
    const float r = radius[static_cast<std::size_t>(particle)];
    if (formula::touches_triangle(formula::approach_triangle(positions_of(q, pair)).distance, r))
      triangles_.push_back(pair);
  }
}

void TouchingPairs::find_for_step(const char* who, const Model& model, std::span<const Vec3f> q,
                                  bool triangles) {
  const Wanted wanted{.particles = model.particles_collide, .triangles = triangles && model.tri_count > 0};
  const Wanted unseen{.particles = wanted.particles && !looked_at_rest_.particles,
                      .triangles = wanted.triangles && !looked_at_rest_.triangles};
  if (unseen.any()) {
    looked_at_rest_ = {looked_at_rest_.particles || wanted.particles,
                       looked_at_rest_.triangles || wanted.triangles};
    const std::string overlap = overlap_at_rest(model, unseen);
    if (!overlap.empty()) log(LogLevel::warn, text(who, ": ", overlap));
  }
  find(model, q, wanted);
}

bool TouchingPairs::is_near_current(const Model& model, std::span<const Vec3f> q, Wanted wanted) const {
  if (q_.size() != q.size() || wanted.particles != wanted_.particles || wanted.triangles != wanted_.triangles)
    return false;
  if (topology_ != model.tri_indices.version() ||
      cohesion_ != model.particle_contact_material.read<float>()[4] ||
      !(largest(model.particle_radius.read<float>()) <= radius_))
    return false;
  Vec3f low = q[0] - q_[0], high = low;
  float most = 0.0f;
  bool finite = true;
  for (std::size_t p = 0; p < q.size(); ++p) {
    const Vec3f moved = q[p] - q_[p];
    low = lowest(moved, low), high = highest(moved, high);
    most = std::max(most, largest_coordinate(q[p]));
    finite &= ParticleCells::is_finite(moved);
  }
  // any two particles have moved against each other by at most the diagonal of the box of all displacements
  return finite && length(high - low) <= 0.99f * skin_ && rounding_of(most) <= rounding_;
}

// The skin doubles while searches come often, unless too many pairs would be near: each costs an exact test
// in every step.
void TouchingPairs::search(const Model& model, std::span<const Vec3f> q, Wanted wanted) {
  wanted_ = wanted;
  topology_ = model.tri_indices.version();
  cohesion_ = model.particle_contact_material.read<float>()[4];
  radius_ = largest(model.particle_radius.read<float>());
  const float least = radius_ > 0.0f ? radius_ : kLeastSkin;
  if (searches_ % kForget == 0) too_large_ = std::numeric_limits<float>::infinity();
  if (skin_ < least) {
    skin_ = least;
  } else if (steps_since_search_ < kOften && 2.0f * skin_ < too_large_) {
    skin_ *= 2.0f;
  }
  q_.assign(q.begin(), q.end());
  search_near(model);
  while (4 * (near_particles_.size() + near_triangles_.size()) > q_.size() && skin_ > least) {
    too_large_ = skin_;
    skin_ = std::max(least, 0.5f * skin_);
    search_near(model);
  }
  ++searches_, steps_since_search_ = 0;
}

void TouchingPairs::search_near(const Model& model) {
  near_particles_.clear(), near_triangles_.clear();
  float most = 0.0f;
  for (const Vec3f& x : q_)
    if (ParticleCells::is_finite(x)) most = std::max(most, largest_coordinate(x));
  rounding_ = 8.0f * rounding_of(most);
  const float beyond = skin_ + rounding_;
  const float reach = 2.0f * radius_ + std::max(cohesion_, 0.0f) + beyond;
  const ParticleCells cells(q_, wanted_.particles ? reach : radius_ + beyond);
  if (wanted_.particles) search_particles(cells, reach);
  if (wanted_.triangles) search_triangles(cells, model, radius_ + beyond);
}

void TouchingPairs::search_particles(const ParticleCells& cells, float reach) {
  const std::span<const Vec3f> q = q_;
  std::vector<std::int32_t> beside;
  const Vec3f around{reach, reach, reach};
  for (std::size_t i = 0; i < q.size(); ++i) {
    cells.in_box(q[i] - around, q[i] + around, beside);
    for (const std::int32_t j : beside)
      if (j > static_cast<std::int32_t>(i) && length(q[i] - q[static_cast<std::size_t>(j)]) <= reach)
        near_particles_.push_back({static_cast<std::int32_t>(i), j});
    require_room(near_particles_.size(), "particles");
  }
}

void TouchingPairs::search_triangles(const ParticleCells& cells, const Model& model, float reach) {
  const std::span<const Vec3f> q = q_;
  const auto corners = model.tri_indices.read<std::int32_t>();
  const auto world = model.particle_world.read<std::int32_t>();
  std::vector<std::int32_t> beside;
  const Vec3f around{reach, reach, reach};
  for (std::int32_t t = 0; t < model.tri_count; ++t) {
    const auto* corner = &corners[static_cast<std::size_t>(t) * 3];
    for (int k = 0; k < 3; ++k)
      NOVAPHY_REQUIRE(corner[k] >= 0 && corner[k] < model.particle_count, ErrorKind::index, "triangle ", t,
                      " has the corner ", corner[k], ", the model has ", model.particle_count, " particles");
    const Vec3f &a = q[static_cast<std::size_t>(corner[0])], &b = q[static_cast<std::size_t>(corner[1])],
                &c = q[static_cast<std::size_t>(corner[2])];
    const Vec3f low = lowest(a, lowest(b, c)) - around, high = highest(a, highest(b, c)) + around;
    const float extent = length(high - low);
    const Vec3f normal = trusted_normal(a, b, c, extent);
    cells.in_box(low, high, beside);
    for (const std::int32_t particle : beside) {
      const Vec3f& x = q[static_cast<std::size_t>(particle)];
      // far from the plane is cheaper to see than far from the triangle
      if (!ParticleCells::is_between(x, low, high) || std::abs(dot(normal, x - a)) > reach + kTrust * extent)
        continue;
      const bool own = particle == corner[0] || particle == corner[1] || particle == corner[2];
      if (own || !share_a_world(world[static_cast<std::size_t>(particle)],
                                world[static_cast<std::size_t>(corner[0])]))
        continue;
      if (!(formula::approach_triangle<float>({x, a, b, c}).distance > reach))
        near_triangles_.push_back({t, particle});
    }
    require_room(near_triangles_.size(), "particles and triangles");
  }
}

namespace {

constexpr float kOverlap = 0.9999f;  // radii that meet exactly, as in a grid of spheres, do not overlap

std::string and_more(std::int64_t count, const char* what) {
  if (count <= 1) return {};
  return count == 2 ? text(", and so is 1 more ", what) : text(", and so are ", count - 1, " more ", what, "s");
}

std::string particles_at_rest(const TouchingPairs& pairs, std::span<const Vec3f> q,
                              std::span<const float> radius) {
  std::int64_t count = 0;
  std::string first;
  for (const auto& [a, b] : pairs.particles()) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    const float apart = length(q[i] - q[j]), radii = radius[i] + radius[j];
    if (!(apart < kOverlap * radii) || ++count > 1) continue;
    first = text("particles ", a, " and ", b, " are ", apart,
                 " m apart at rest, less than their radii, which sum to ", radii, " m");
  }
  if (count == 0) return {};
  return first + and_more(count, "pair") +
         ": they push each other from the first step on; give a smaller particle_radius, or set "
         "model.particle_grid to None";
}

std::string triangles_at_rest(const TouchingPairs& pairs, std::span<const Vec3f> q,
                              std::span<const float> radius) {
  std::int64_t count = 0;
  std::string first;
  for (const auto& pair : pairs.triangles()) {
    const float apart = formula::approach_triangle(positions_of(q, pair)).distance;
    const float r = radius[static_cast<std::size_t>(pair[0])];
    if (!(apart < kOverlap * r) || ++count > 1) continue;
    first = text("particle ", pair[0], " is ", apart, " m from the triangle of particles ", pair[1], ", ",
                 pair[2], " and ", pair[3], " at rest, less than its radius of ", r, " m");
  }
  if (count == 0) return {};
  return first + and_more(count, "pair") +
         ": they push each other from the first step on; give a smaller particle_radius, or "
         "enable_tri_contact=False";
}

}  // namespace

std::string overlap_at_rest(const Model& model, TouchingPairs::Wanted wanted) {
  TouchingPairs pairs;
  const auto q = model.particle_q.read<Vec3f>();
  const auto radius = model.particle_radius.read<float>();
  pairs.find(model, q, wanted);
  const std::string particles = particles_at_rest(pairs, q, radius);
  const std::string triangles = triangles_at_rest(pairs, q, radius);
  return particles.empty() || triangles.empty() ? particles + triangles : particles + "; " + triangles;
}

}  // namespace novaphy::semi_implicit
