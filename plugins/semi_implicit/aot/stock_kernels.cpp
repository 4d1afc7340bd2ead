// SPDX-License-Identifier: Apache-2.0
// The kernels of this plugin that are compiled ahead of time, and the adjoints that users ask for: of the
// state, of state and material, of everything. Any other adjoint is interpreted.
#include "novaphy/nova/stock_kernels.hpp"

#include "diff/element_kernels.hpp"
#include "diff/kernels.hpp"
#include "diff/pair_forces.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  namespace kernels = novaphy::semi_implicit;
  return {
      // x, v, rest, material, activation
      {kernels::tetrahedra_kernel(), {{.wanted = 0b00011}, {.wanted = 0b01011}, {.wanted = 0b11111}}},
      // x, v, rest, material, activation
      {kernels::triangles_kernel(), {{.wanted = 0b00011}, {.wanted = 0b01011}, {.wanted = 0b11111}}},
      // x, v, material, rest_angle
      {kernels::bending_kernel(), {{.wanted = 0b0011}, {.wanted = 0b1111}}},
      // x, v, ke, kd, rest_length
      {kernels::springs_kernel(), {{.wanted = 0b00011}, {.wanted = 0b11111}}},
      // x, v, f, flags, inv_mass, gravity -> q_out, qd_out
      {kernels::integration_kernel(true),
       {{.wanted = 0b000111, .seeded = 0b11}, {.wanted = 0b110111, .seeded = 0b11}}},
      {kernels::integration_kernel(false), {{.wanted = 0b000111, .seeded = 0b11}}},
      // x, v, f, radius, flags, point, normal, ke, kd, kf, mu, soft -> total, f_out
      {kernels::pair_contact_kernel(), {{.wanted = 0b11}, {.wanted = 0b1111'1000'1011}}},
      // x, v, radius, flags, point, normal, ke, kd, kf, mu, soft -> total
      {kernels::record_contact_kernel({}), {{.wanted = 0b11}, {.wanted = 0b111'1100'0111}}},
      // x, v, radius, material -> f
      {kernels::particle_pair_kernel(), {{.wanted = 0b0011}, {.wanted = 0b1111}}},
      // x, radius, soft -> f
      {kernels::triangle_pair_kernel(), {{.wanted = 0b001}, {.wanted = 0b111}}},
      // x, v, radius, flags, x_found, shape_type, shape_scale, shape_pose, ke, kd, kf, mu, soft -> total
      {kernels::record_contact_kernel({.finds_again = true}),
       {{.wanted = 0b1'0011}, {.wanted = 0b1'1111'0001'0111}}},
  };
}

}  // namespace nova::aot
