// SPDX-License-Identifier: Apache-2.0
// The kernels that the forward solver calls as functions over rows (src/integration.cpp,
// src/element_forces.cpp).
#include "diff/element_kernels.hpp"
#include "diff/kernels.hpp"
#include "novaphy/nova/stock_kernels.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  namespace kernels = novaphy::semi_implicit;
  constexpr auto kRows = kernels::Writes::rows;
  return {{.kernel = kernels::integration_kernel(true), .row_kernel = "integrate_in_one_world"},
          {.kernel = kernels::integration_kernel(false), .row_kernel = "integrate_in_worlds"},
          {.kernel = kernels::make_springs_kernel(kRows), .row_kernel = "springs"},
          {.kernel = kernels::make_triangles_kernel(kRows), .row_kernel = "triangles"},
          {.kernel = kernels::make_bending_kernel(kRows), .row_kernel = "bending"},
          {.kernel = kernels::make_tetrahedra_kernel(kRows), .row_kernel = "tetrahedra"}};
}

}  // namespace nova::aot
