// SPDX-License-Identifier: Apache-2.0
#include "platform/process.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "platform/files.hpp"

namespace novaphy::platform {

std::optional<std::string> environment(const char* name) {
  const char* value = secure_getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

static std::filesystem::path user_folder(const char* variable, const char* below_home) {
  // the XDG specification tells readers to ignore relative paths
  if (const auto set = environment(variable); set && std::filesystem::path(*set).is_absolute()) return *set;
  if (const auto home = environment("HOME"); home && std::filesystem::path(*home).is_absolute())
    return std::filesystem::path(*home) / below_home;
  return {};
}

std::filesystem::path user_data_folder() {
  return user_folder("XDG_DATA_HOME", ".local/share");
}

std::filesystem::path user_state_folder() {
  return user_folder("XDG_STATE_HOME", ".local/state");
}

std::filesystem::path user_cache_folder() {
  return user_folder("XDG_CACHE_HOME", ".cache");
}

std::filesystem::path runtime_library() {
  Dl_info info{};
  static const char inside_this_library = 0;
  if (dladdr(&inside_this_library, &info) == 0 || info.dli_fname == nullptr) return {};
  return canonical_or_empty(info.dli_fname);
}

std::filesystem::path runtime_folder() {
  return runtime_library().parent_path();
}

std::string machine() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  std::string text = std::string(name.sysname) + "-" + name.machine;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void around_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  pthread_atfork(before, in_parent, in_child);
}

}  // namespace novaphy::platform
