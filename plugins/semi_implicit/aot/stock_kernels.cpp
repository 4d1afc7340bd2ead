// SPDX-License-Identifier: Apache-2.0
// The kernels of this plugin that are compiled ahead of time, and the adjoints that users ask for: of the state, of
// state and material, of everything.
#include "aot/stock_kernels.hpp"

#include "diff/elements.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  using novaphy::semi_implicit::springs_kernel;
  using novaphy::semi_implicit::tetrahedra_kernel;
  // tetrahedra: x, v, rest, material, activation; springs: x, v, ke, kd, rest_length
  return {{tetrahedra_kernel(), {{.wanted = 0b00011}, {.wanted = 0b01011}, {.wanted = 0b11111}}},
          {springs_kernel(), {{.wanted = 0b00011}, {.wanted = 0b11111}}}};
}

}  // namespace nova::aot
