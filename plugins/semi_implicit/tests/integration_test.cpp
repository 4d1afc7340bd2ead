// SPDX-License-Identifier: Apache-2.0
// Integration by generated functions: the bits of the formula in every instruction set, row count and cut.
#include "src/integration.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "novaphy/model.hpp"
#include "scenes.hpp"

using namespace novaphy;
using semi_implicit::IntegrationRows;

namespace {

bool same_bits(const std::vector<Vec3f>& a, const std::vector<Vec3f>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3f)) == 0;
}

/// Particles at random: inactive, fixed, at rest, too fast, of no world.
struct Particles {
  std::vector<Vec3f> q, qd, f, gravity;
  std::vector<std::int32_t> flags, world;
  std::vector<float> inv_mass;

  Particles(std::size_t count, std::size_t worlds, std::uint32_t seed) {
    test::Random random(seed);
    for (std::size_t w = 0; w < worlds; ++w) gravity.push_back(random.in_box(10.0f));
    for (std::size_t p = 0; p < count; ++p) {
      const bool fixed = p % 7 == 3, resting = p % 13 == 4;
      q.push_back(random.in_box(3.0f)), qd.push_back(random.in_box(resting ? 0.0f : 8.0f));
      f.push_back(random.in_box(resting ? 0.0f : 50.0f)),
          inv_mass.push_back(fixed ? 0.0f : random.between(0.1f, 4));
      flags.push_back(p % 5 == 1 ? 2 : p % 3 == 0 ? 3 : ParticleFlags::ACTIVE);
      world.push_back(static_cast<std::int32_t>(p * worlds / count) - (p % 11 == 2 ? 100 : 0));
    }
  }
  IntegrationRows rows(std::vector<Vec3f>& q_out, std::vector<Vec3f>& qd_out) const {
    return {q, qd, f, flags, inv_mass, gravity, world, 10.0f, 0.0125f, q_out, qd_out};
  }
  std::size_t count() const { return q.size(); }
};

}  // namespace

TEST_CASE("every instruction set integrates to the bits of the formula, in pieces and in place too") {
  for (const std::size_t worlds : {std::size_t{1}, std::size_t{3}})
    for (std::size_t count = 1; count < 150; count += count < 40 ? 1 : 17) {
      CAPTURE(worlds);
      CAPTURE(count);
      const Particles particles(count, worlds, static_cast<std::uint32_t>(count));
      const auto rows = static_cast<std::int64_t>(count);
      std::vector<Vec3f> q(count), qd(count);
      integrate_by_formula(particles.rows(q, qd), 0, rows);
      for (std::size_t sets = 1; sets <= instruction_set_count(); ++sets) {
        CAPTURE(sets);
        std::vector<Vec3f> q_out(count), qd_out(count);
        integrate(particles.rows(q_out, qd_out), 0, rows, sets);
        CHECK((same_bits(q_out, q) && same_bits(qd_out, qd)));

        Particles moved = particles;
        const IntegrationRows in_place = moved.rows(moved.q, moved.qd);
        for (std::int64_t begin = 0; begin < rows; begin += 19)
          integrate(in_place, begin, std::min(begin + 19, rows), sets);
        CHECK((same_bits(moved.q, q) && same_bits(moved.qd, qd)));
      }
    }
}

TEST_CASE("rows outside of a cut are left as they are") {
  const Particles particles(64, 1, 5);
  const Vec3f mark{7, 8, 9};
  for (std::size_t sets = 1; sets <= instruction_set_count(); ++sets) {
    std::vector<Vec3f> q(64, mark), qd(64, mark);
    integrate(particles.rows(q, qd), 20, 41, sets);
    for (std::size_t p = 0; p < 64; ++p)
      if (p < 20 || p >= 41) CHECK((q[p].x == 7 && q[p].z == 9 && qd[p].x == 7 && qd[p].z == 9));
  }
}
