// SPDX-License-Identifier: Apache-2.0
// Which particles touch each other, and which touch triangles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// Finds the pairs that touch, in a fixed order. Cells find those that are near; they are kept until
/// particles have moved against each other by more than a skin, so a scene in which nothing is near costs one
/// pass over the positions. Results are those of testing every pair. Particles of different worlds do not
/// meet.
class NOVAPHY_API TouchingPairs {
 public:
  /// Two particles, the lower index first.
  using ParticlePair = std::array<std::int32_t, 2>;
  /// A particle and the three of a triangle that it does not belong to.
  using TrianglePair = std::array<std::int32_t, 4>;

  /// What to look for. Looking for nothing costs nothing.
  struct Wanted {
    bool particles = false, triangles = false;
    bool any() const { return particles || triangles; }
  };

  /// The pairs that touch at the positions `q`. Throws Error(value) when more than kMostNear are near.
  void find(const Model& model, std::span<const Vec3f> q, Wanted wanted);
  /// What a step wants: particles where the model's collide, triangles where its options say so. The first
  /// time, radii that overlap at rest are a warning in the log, which `who` begins.
  void find_for_step(const char* who, const Model& model, std::span<const Vec3f> q, bool triangles);
  static constexpr std::int64_t kMostNear = 32'000'000;

  /// Active particles whose surfaces are at most the cohesion apart, by first, then second particle.
  std::span<const ParticlePair> particles() const { return particles_; }
  /// By triangle, then particle.
  std::span<const TrianglePair> triangles() const { return triangles_; }
  bool empty() const { return particles_.empty() && triangles_.empty(); }
  /// How often near pairs were looked for anew.
  std::int64_t searches() const { return searches_; }

 private:
  bool is_near_current(const Model& model, std::span<const Vec3f> q, Wanted wanted) const;
  void search(const Model& model, std::span<const Vec3f> q, Wanted wanted);
  void search_near(const Model& model);
  void search_particles(const class ParticleCells& cells, float reach);
  void search_triangles(const class ParticleCells& cells, const Model& model, float reach);

  std::vector<ParticlePair> near_particles_, particles_;
  std::vector<std::array<std::int32_t, 2>> near_triangles_;  ///< triangle, particle
  std::vector<TrianglePair> triangles_;
  std::vector<Vec3f> q_;  ///< at the last search
  Wanted wanted_, looked_at_rest_;
  std::uint64_t topology_ = 0;                                              ///< version of tri_indices
  float radius_ = -1.0f, cohesion_ = 0.0f, skin_ = 0.0f, rounding_ = 0.0f;  ///< m, at the last search
  float too_large_ = 0.0f;  ///< m, the skin at which too many pairs were near
  std::int64_t searches_ = 0, steps_since_search_ = 0;
};

/// A sentence on particles whose radii reach each other, or a triangle that they do not belong to, in the
/// model's start positions: which, how far apart, how many. Empty when there are none.
NOVAPHY_API std::string overlap_at_rest(const Model& model, TouchingPairs::Wanted wanted);

}  // namespace novaphy::semi_implicit
