// SPDX-License-Identifier: Apache-2.0
// What people call the kind of processor that a library is built for.
#pragma once

#include <elf.h>

#include <string>

namespace novaphy::platform {

/// "x86-64" of an ELF header's e_machine; "processor 123" of one without a name here.
inline std::string processor_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv";
    default:
      return "processor " + std::to_string(machine);
  }
}

}  // namespace novaphy::platform
