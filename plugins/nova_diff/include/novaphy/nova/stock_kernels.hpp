// SPDX-License-Identifier: Apache-2.0
// What a plugin tells the generator of kernels that are compiled ahead of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "novaphy/nova/kernel.hpp"

namespace nova::aot {

/// An adjoint to compile: bit i of `wanted` = argument i, bit k of `seeded` = output k.
struct Masks {
  std::uint64_t wanted = 0, seeded = 1;
};

struct StockKernel {
  Kernel kernel;
  std::vector<Masks> adjoints{};
  std::string row_kernel{};  ///< its name in a table of row kernels (novaphy/row_kernel.hpp)
};

/// Defined by the plugin, in a source that novaphy_generate_kernels() is given.
std::vector<StockKernel> stock_kernels();

}  // namespace nova::aot
