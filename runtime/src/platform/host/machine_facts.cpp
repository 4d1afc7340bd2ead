// SPDX-License-Identifier: Apache-2.0
#include "platform/host/machine_facts.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace novaphy::platform {
namespace {

std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name") || line.starts_with("Model"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

std::vector<std::string> vector_sets() {
  std::vector<std::string> out;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) out.push_back("sse4.2");
  if (__builtin_cpu_supports("avx")) out.push_back("avx");
  if (__builtin_cpu_supports("avx2")) out.push_back("avx2");
  if (__builtin_cpu_supports("fma")) out.push_back("fma");
  if (__builtin_cpu_supports("avx512f")) out.push_back("avx512f");
  if (__builtin_cpu_supports("avx512dq")) out.push_back("avx512dq");
  if (__builtin_cpu_supports("avx512vl")) out.push_back("avx512vl");
#endif
  return out;
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts out;
  utsname name{};
  if (uname(&name) == 0) out.kernel = std::string(name.sysname) + " " + name.release + " " + name.machine;
  out.glibc = gnu_get_libc_version();
  out.processor = processor_name();
  out.vector_sets = vector_sets();
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) out.cores = CPU_COUNT(&cores);
  return out;
}

std::optional<std::string> open_by_name(const std::string& name, std::string& error) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    error = dlerror();
    return std::nullopt;
  }
  link_map* map = nullptr;
  const bool is_known = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  return is_known ? std::string(map->l_name) : name;
}

bool is_name_of_c_library(const std::string& name) {
  return dlsym(RTLD_DEFAULT, name.c_str()) != nullptr;
}

bool may_write(const std::string& folder) {
  std::filesystem::path at = folder;
  std::error_code error;
  while (at.has_relative_path() && !std::filesystem::exists(at, error)) at = at.parent_path();
  return std::filesystem::is_directory(at, error) && access(at.c_str(), W_OK | X_OK) == 0;
}

std::map<std::string, std::string> variables_with_prefix(const std::string& prefix) {
  std::map<std::string, std::string> out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at)
    if (const std::string entry = *at; entry.starts_with(prefix))
      out[entry.substr(0, entry.find('='))] = entry.substr(std::min(entry.size(), entry.find('=') + 1));
  return out;
}

}  // namespace novaphy::platform
