// SPDX-License-Identifier: Apache-2.0
#include "nova/backend/dispatch.hpp"

#include "novaphy/row_kernel.hpp"

namespace nova::machine {

#if defined(__x86_64__)
std::span<const Build> builds() noexcept {
  static constexpr Build kAll[] = {
      {"base", run_base, run_patches_base, sum_shared_base, &CompiledKernel::base}, {"v3", run_v3, run_patches_v3, sum_shared_v3, &CompiledKernel::v3}, {"v4", run_v4, run_patches_v4, sum_shared_v4, &CompiledKernel::v4}};
  static const std::size_t count = novaphy::instruction_set_count();
  return {kAll, count};
}
#else
std::span<const Build> builds() noexcept {
  static constexpr Build kAll[] = {{"base", run_base, run_patches_base, sum_shared_base, &CompiledKernel::base}};
  return kAll;
}
#endif

const Build& fastest() noexcept {
  static const Build build = builds().back();
  return build;
}

}  // namespace nova::machine
