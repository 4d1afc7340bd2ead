// SPDX-License-Identifier: Apache-2.0
#include "src/integration.hpp"

#include "novaphy/model.hpp"
#include "novaphy/semi_implicit/formula/particle_integration.h"

namespace novaphy::semi_implicit {

RowFunctions row_functions(const char* kernel) {
  const auto table = semi_implicit_rows();
  return {find_row_function(table, kernel, 1), find_row_function(table, kernel, 2),
          find_row_function(table, kernel, 3)};
}

void integrate_by_formula(const IntegrationRows& rows, std::int64_t begin, std::int64_t end) {
  for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
    if ((rows.flags[p] & ParticleFlags::ACTIVE) == 0) {
      rows.q_out[p] = rows.q[p], rows.qd_out[p] = rows.qd[p];
      continue;
    }
    const Vec3f gravity = rows.gravity[rows.world[p] < 0 ? 0 : static_cast<std::size_t>(rows.world[p])];
    const auto next = formula::integrate_particle<float>({rows.q[p], rows.qd[p]}, rows.f[p], rows.inv_mass[p],
                                                         gravity, rows.max_velocity, rows.dt);
    rows.q_out[p] = next.q, rows.qd_out[p] = next.qd;
  }
}

void integrate(const IntegrationRows& rows, std::int64_t begin, std::int64_t end, std::size_t sets) {
  if (end - begin < kFewestRows) return integrate_by_formula(rows, begin, end);
  static const RowFunctions one_world = row_functions("integrate_in_one_world"),
                            worlds = row_functions("integrate_in_worlds");
  const RowFunction function = (rows.gravity.size() > 1 ? worlds : one_world)[sets - 1];
  if (function == nullptr) return integrate_by_formula(rows, begin, end);
  // the order of diff/integration_kernel.cpp; the last two are read where there are several worlds
  const void* const arguments[] = {
      rows.q.data(),       rows.qd.data(),     rows.f.data(), rows.flags.data(),   rows.inv_mass.data(),
      rows.gravity.data(), &rows.max_velocity, &rows.dt,      rows.gravity.data(), rows.world.data()};
  void* const outputs[] = {rows.q_out.data(), rows.qd_out.data()};
  function(arguments, outputs, begin, end);
}

}  // namespace novaphy::semi_implicit
