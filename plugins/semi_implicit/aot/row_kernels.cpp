// SPDX-License-Identifier: Apache-2.0
// The kernels that the forward solver calls as functions over rows (src/integration.cpp).
#include "diff/kernels.hpp"
#include "novaphy/nova/stock_kernels.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  return {
      {.kernel = novaphy::semi_implicit::integration_kernel(true), .row_kernel = "integrate_in_one_world"},
      {.kernel = novaphy::semi_implicit::integration_kernel(false), .row_kernel = "integrate_in_worlds"}};
}

}  // namespace nova::aot
