// SPDX-License-Identifier: Apache-2.0
// What the headers of a shared library say, read without loading it.
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

/// Why no process of this kind can load a file: "is no ELF library", "is built for aarch64, this is x86-64",
/// "is cut off: it has 500 bytes and needs ...".
struct ElfError {
  std::string text;
  std::string remedy = {};  ///< "copy or build it again"; empty where it must be built for this machine
};

/// Reads the file; a stripped one too. Throws ElfError.
ElfFile read_elf(const std::filesystem::path& path);

/// What its headers have against loading it, without reading more of it: the text of ElfError with its
/// remedy, or nothing. Ask before open_library(): the system's loader ends the process over a file that is
/// cut off.
std::string unloadable_library(const std::filesystem::path& path);

}  // namespace novaphy::platform
