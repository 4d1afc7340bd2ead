// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests and benchmarks that are compiled ahead of time.
#include "aot/stock_kernels.hpp"

#include "ball_kernels.hpp"
#include "patch_kernels.hpp"
#include "tetrahedra.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  return {{test::make_tetrahedron_kernel(), {{.wanted = 0x3}, {.wanted = 0x1F}}},
          {test::make_many_outputs_kernel(), {{.wanted = 0xF, .seeded = 0x1F}}},
          {test::make_contact_kernel(), {{.wanted = 0x7F8F}}},
          {test::make_integrate_kernel(), {{.wanted = 0x7, .seeded = 0x3}}}};
}

}  // namespace nova::aot
