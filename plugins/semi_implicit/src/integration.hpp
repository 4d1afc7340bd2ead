// SPDX-License-Identifier: Apache-2.0
// The integration of many particles: by functions that the build generates from the formula, or by the
// formula.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "novaphy/math.hpp"
#include "novaphy/row_kernel.hpp"

namespace novaphy {

/// The kernels that were generated for this module; empty in a build without plugin nova_diff.
std::span<const RowKernel> semi_implicit_rows();

namespace semi_implicit {

/// A generated function for one, two and three instruction sets; null where there is none.
using RowFunctions = std::array<RowFunction, 3>;
RowFunctions row_functions(const char* kernel);

inline constexpr std::int64_t kFewestRows =
    8;  ///< fewer are done sooner by the formula than by a generated function

/// What a step reads and writes, a row for each particle. q_out and qd_out may be q and qd.
struct IntegrationRows {
  std::span<const Vec3f> q, qd, f;  ///< m, m/s, N
  std::span<const std::int32_t> flags;
  std::span<const float> inv_mass;      ///< 1/kg
  std::span<const Vec3f> gravity;       ///< m/s^2, of each world
  std::span<const std::int32_t> world;  ///< below 0: gravity of world 0
  float max_velocity, dt;               ///< m/s, s
  std::span<Vec3f> q_out, qd_out;
};

/// Integrates particles [begin, end) with one of the first `sets` instruction sets. The same bits as the
/// formula.
void integrate(const IntegrationRows& rows, std::int64_t begin, std::int64_t end,
               std::size_t sets = instruction_set_count());
/// The same, particle by particle.
void integrate_by_formula(const IntegrationRows& rows, std::int64_t begin, std::int64_t end);

}  // namespace semi_implicit
}  // namespace novaphy
