// SPDX-License-Identifier: Apache-2.0
// What a bug report should say about the machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace novaphy::platform {

struct MachineFacts {
  std::string kernel;  ///< "Linux 6.1.0-18-amd64 x86_64"
  std::string glibc;   ///< "2.36"
  std::string processor;
  std::vector<std::string> vector_sets;  ///< "sse4.2", "avx2", ... that processor and kernel have
  int cores = 0;                         ///< that this process may use
};
MachineFacts machine_facts();

/// Opens a library by the name that the system's loader searches; the file that it found, or nothing and why
/// in `error`. Runs the library's constructors: in a process that may die.
std::optional<std::string> open_by_name(const std::string& name, std::string& error);

/// Whether the C library, or another one of this process, has a function or variable of that name.
bool is_name_of_c_library(const std::string& name);

/// Whether this user may write into the folder, or make it.
bool may_write(const std::string& folder);

/// The variables of the environment whose names begin so.
std::map<std::string, std::string> variables_with_prefix(const std::string& prefix);

}  // namespace novaphy::platform
