// SPDX-License-Identifier: Apache-2.0
// The program that a thread records.
#include "novaphy/active_program.hpp"

namespace novaphy {

void*& active_program() noexcept {
  thread_local void* program = nullptr;
  return program;
}

}  // namespace novaphy
