// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests and benchmarks that are compiled ahead of time.
#include "novaphy/nova/stock_kernels.hpp"

#include "ball_kernels.hpp"
#include "compiled_random_kernels.hpp"
#include "fuzz_kernels.hpp"
#include "nova/kernel/compiled.hpp"
#include "patch_kernels.hpp"
#include "tetrahedra.hpp"

namespace nova::aot {

std::vector<StockKernel> stock_kernels() {
  std::vector<StockKernel> out{{test::make_tetrahedron_kernel(), {{.wanted = 0x3}, {.wanted = 0x1F}}},
                               {test::make_many_outputs_kernel(), {{.wanted = 0xF, .seeded = 0x1F}}},
                               {test::make_contact_kernel(), {{.wanted = 0x7F8F}}},
                               {test::make_integrate_kernel(), {{.wanted = 0x7, .seeded = 0x3}}}};
  std::vector<Kernel> kernels = test::compiled_random_kernels();
  for (auto* const make : {test::make_mixed_kernel, test::make_blended_kernel, test::make_pull_kernel,
                           test::make_paired_kernel})
    kernels.push_back(make());
  for (const Kernel& kernel : kernels) {
    const Kernel::Compiled& compiled = *kernel.compiled();
    out.push_back({kernel, {{compiled.differentiable, compiled.float_outputs}}});
  }
  return out;
}

}  // namespace nova::aot
