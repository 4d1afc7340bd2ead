// SPDX-License-Identifier: Apache-2.0
// What the header of a shared library says, read without loading it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace novaphy::platform {

/// A symbol that the library offers to others.
struct ElfExport {
  std::string name;
  bool is_weak = false;  ///< or GNU_UNIQUE: may stand in several libraries
};

/// The dynamic section of a library of this machine's kind.
struct ElfFile {
  std::vector<std::string> needed;        ///< DT_NEEDED
  std::vector<std::string> search_paths;  ///< DT_RPATH and DT_RUNPATH, one a folder
  std::vector<ElfExport> exports;         ///< defined, visible, not local
};

/// Why a file is no library of this machine: "is no ELF file", "is built for aarch64, this is x86-64".
struct ElfError {
  std::string text;
};

/// Reads the file; a stripped one too. Throws ElfError.
ElfFile read_elf(const std::filesystem::path& path);

}  // namespace novaphy::platform
