// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests and benchmarks that are compiled ahead of time.
#include "novaphy/nova/stock_kernels.hpp"

#include "ball_kernels.hpp"
#include "compiled_random_kernels.hpp"
#include "nova/kernel/compiled.hpp"
#include "patch_kernels.hpp"
#include "tetrahedra.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  std::vector<StockKernel> out{{test::make_tetrahedron_kernel(), {{.wanted = 0x3}, {.wanted = 0x1F}}},
                               {test::make_many_outputs_kernel(), {{.wanted = 0xF, .seeded = 0x1F}}},
                               {test::make_contact_kernel(), {{.wanted = 0x7F8F}}},
                               {test::make_integrate_kernel(), {{.wanted = 0x7, .seeded = 0x3}}}};
  for (const Kernel& kernel : test::compiled_random_kernels()) {
    const Kernel::Compiled& compiled = *kernel.compiled();
    out.push_back({kernel, {{compiled.differentiable, compiled.float_outputs}}});
  }
  return out;
}

}  // namespace nova::aot
