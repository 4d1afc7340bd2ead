// SPDX-License-Identifier: Apache-2.0
// Opening libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace novaphy::platform {

/// What the system's loader says about a library that it does not open, without the library's own path.
struct LibraryError {
  std::string text;
};

/// A library that stays open and mapped until the process ends.
class SharedLibrary;

/// Opens the library at an absolute path; the second time it is the same one. Throws LibraryError. One thread
/// at a time.
SharedLibrary& open_library(const std::filesystem::path& path);

/// An address inside the memory that is mapped from the library's file.
const void* mapped_address(SharedLibrary& library);

/// The library that holds an address, canonical; empty for an address of none.
std::filesystem::path library_of(const void* address);

/// The files of this process's loaded libraries whose name begins so, canonical, each once.
std::vector<std::filesystem::path> loaded_libraries(const std::string& beginning_of_name);

/// The function of that name in the library; null when it has none.
using AnyFunction = void (*)();
AnyFunction find_function(SharedLibrary& library, const char* name);

}  // namespace novaphy::platform
