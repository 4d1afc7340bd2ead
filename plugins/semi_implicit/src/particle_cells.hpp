// SPDX-License-Identifier: Apache-2.0
// Particles sorted into cubic cells.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/math.hpp"

namespace novaphy::semi_implicit {

/// Finds the particles in a box. Particles whose position is not finite are in no cell.
class ParticleCells {
 public:
  /// `size` [m] of a cell; cells are made larger where the positions would need more than a million a side.
  ParticleCells(std::span<const Vec3f> q, float size) : q_(q) {
    double most = 1e-30;
    for (const Vec3f& x : q)
      if (is_finite(x))
        most = std::max({most, std::abs(double{x.x}), std::abs(double{x.y}), std::abs(double{x.z})});
    size_ = std::max(double{size}, most / 1e6);
    buckets_ = std::bit_ceil(2 * q.size() + 1);
    first_.assign(buckets_ + 1, 0);
    for (const Vec3f& x : q)
      if (is_finite(x)) ++first_[bucket(cell_of(x)) + 1];
    for (std::size_t b = 1; b <= buckets_; ++b) first_[b] += first_[b - 1];
    particles_.resize(static_cast<std::size_t>(first_.back()));
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t p = 0; p < q.size(); ++p)
      if (is_finite(q[p]))
        particles_[static_cast<std::size_t>(next[bucket(cell_of(q[p]))]++)] = static_cast<std::int32_t>(p);
  }

  /// The particles in the box, ascending, and some beside it.
  void in_box(const Vec3f& low, const Vec3f& high, std::vector<std::int32_t>& out) const {
    out.clear();
    if (!is_finite(low) || !is_finite(high)) return;
    const Cell from = cell_of(low), to = cell_of(high);
    const double cells = double(to.x - from.x + 1) * double(to.y - from.y + 1) * double(to.z - from.z + 1);
    if (cells > static_cast<double>(q_.size())) {
      for (std::size_t p = 0; p < q_.size(); ++p)
        if (is_between(q_[p], low, high)) out.push_back(static_cast<std::int32_t>(p));
      return;
    }
    for (std::int64_t x = from.x; x <= to.x; ++x)
      for (std::int64_t y = from.y; y <= to.y; ++y)
        for (std::int64_t z = from.z; z <= to.z; ++z) append({x, y, z}, out);
    std::sort(out.begin(), out.end());
  }

  static bool is_between(const Vec3f& x, const Vec3f& low, const Vec3f& high) {
    return low.x <= x.x && x.x <= high.x && low.y <= x.y && x.y <= high.y && low.z <= x.z && x.z <= high.z;
  }
  static bool is_finite(const Vec3f& x) {
    return std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z);
  }

 private:
  struct Cell {
    std::int64_t x, y, z;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  Cell cell_of(const Vec3f& x) const {
    const auto index = [&](float v) {
      return static_cast<std::int64_t>(std::clamp(std::floor(double{v} / size_), -4e6, 4e6));
    };
    return {index(x.x), index(x.y), index(x.z)};
  }
  std::size_t bucket(const Cell& cell) const {
    const auto mix = static_cast<std::uint64_t>(cell.x) * 0x9e3779b97f4a7c15u ^
                     static_cast<std::uint64_t>(cell.y) * 0xc2b2ae3d27d4eb4fu ^
                     static_cast<std::uint64_t>(cell.z) * 0x165667b19e3779f9u;
    return static_cast<std::size_t>(mix ^ (mix >> 32)) & (buckets_ - 1);
  }
  void append(const Cell& cell, std::vector<std::int32_t>& out) const {
    const std::size_t b = bucket(cell);
    for (auto k = static_cast<std::size_t>(first_[b]); k < static_cast<std::size_t>(first_[b + 1]); ++k)
      if (cell_of(q_[static_cast<std::size_t>(particles_[k])]) == cell) out.push_back(particles_[k]);
  }

  std::span<const Vec3f> q_;
  double size_ = 1.0;
  std::size_t buckets_ = 1;
  std::vector<std::int32_t> first_, particles_;
};

}  // namespace novaphy::semi_implicit
