// SPDX-License-Identifier: Apache-2.0
// Writes lowered code as C++ over the vectors of nova/backend/block.hpp.
#pragma once

#include <string>

#include "nova/kernel/code.hpp"

namespace nova::aot {

/// A function `name(Binding, PatchView, begin, end)`.
std::string function_text(const Code& code, const char* program, const std::string& name);

/// The same, and a novaphy::RowFunction `name` that calls it. Throws Error(unsupported_feature) for a kernel
/// that does more than set numbers of its own rows.
std::string row_function_text(Code code, const char* program, const std::string& name);

}  // namespace nova::aot
