// SPDX-License-Identifier: Apache-2.0
// Kernels that were compiled ahead of time, from their record, by a generator that runs in the build.
//
// A plugin calls novaphy_generate_kernels() (nova_diff/aot/novaphy_generate_kernels.cmake) in its
// CMakeLists.txt; the generated table adds itself when the module is loaded. A kernel whose program is in a
// table runs compiled, any other is interpreted. The bits are the same.
#pragma once

#include <cstdint>
#include <span>

#include "novaphy/export.hpp"

namespace nova {

namespace machine {
struct Binding;
struct PatchView;
}  // namespace machine

/// Runs rows [begin, end), on a patch where there is one.
using CompiledRun = void (*)(const machine::Binding&, const machine::PatchView&, std::int64_t begin,
                             std::int64_t end);

/// One program for every instruction set that the machine may have.
struct CompiledKernel {
  std::span<const std::uint32_t> program{};  ///< what the simplified program computes, word for word
  CompiledRun base = nullptr, v3 = nullptr,
              v4 = nullptr;  ///< v3, v4: null where the compiler has no such set
};

/// Adds kernels, which must live as long as the process. Any thread.
NOVAPHY_API void add_compiled_kernels(std::span<const CompiledKernel> kernels);

/// false: everything is interpreted. Returns whether compiled kernels are in use now. Any thread.
NOVAPHY_API bool set_compiled_kernels(bool wanted) noexcept;
NOVAPHY_API bool compiled_kernels_wanted() noexcept;
/// Whether any module has brought some.
NOVAPHY_API bool has_compiled_kernels() noexcept;

}  // namespace nova
