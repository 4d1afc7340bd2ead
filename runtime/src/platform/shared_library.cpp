// SPDX-License-Identifier: Apache-2.0
#include "platform/shared_library.hpp"

#include <vector>  // Boost.DLL 1.74 forgets it

#include <boost/dll/shared_library.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <map>
#include <system_error>
#include <variant>

#include "platform/files.hpp"

namespace novaphy::platform {

namespace dll = boost::dll;

class SharedLibrary {
 public:
  explicit SharedLibrary(dll::shared_library opened) : library(std::move(opened)) {}
  dll::shared_library library;
};

namespace {

/// Handles stay open: objects, exceptions and threads of a library may outlive its last use by the runtime.
std::map<std::filesystem::path, SharedLibrary>& open_libraries() {
  static std::map<std::filesystem::path, SharedLibrary> libraries;
  return libraries;
}

/// Boost.DLL's text without its own words and without the stale errno that it appends: what dlerror() said.
std::string dlerror_text(const std::string& message, const std::string& path) {
  std::string text = message;
  constexpr std::string_view kBegin = "dlerror system message: ";
  if (const std::size_t begin = text.find(kBegin); begin != std::string::npos)
    text = text.substr(begin + kBegin.size());
  if (const std::size_t end = text.rfind("): "); end != std::string::npos) text.resize(end);
  if (text.starts_with(path + ": ")) text = text.substr(path.size() + 2);
  return text;
}

/// The library, or the text of Boost.DLL's error. Never throws, and that is the point: an exception that a
/// static constructor lets out of dlopen() leaves the system's loader locked, and every later dlopen() of
/// another thread hangs (measured with glibc 2.36). The process ends here instead, where the journal of loads
/// knows whose fault it was.
std::variant<dll::shared_library, std::string> try_open(const std::filesystem::path& path) noexcept {
  // now: an undefined symbol is an error here and not the end of the process at the first call. local:
  // plugins see each other through the registry alone. nodelete: see open_libraries().
  const auto mode = dll::load_mode::rtld_now | dll::load_mode::rtld_local |
                    static_cast<dll::load_mode::type>(RTLD_NODELETE);
  try {
    return dll::shared_library(path, mode);
  } catch (const std::system_error& error) {
    // the form with an error code would lose dlerror()
    const std::string text = error.what();
    if (text.find("boost::dll::") == std::string::npos) std::terminate();  // a static constructor's own
    return text;
  } catch (...) {
    std::terminate();  // in a handler, which makes the message name the exception
  }
}

}  // namespace

SharedLibrary& open_library(const std::filesystem::path& path) {
  if (const auto at = open_libraries().find(path); at != open_libraries().end()) return at->second;
  auto opened = try_open(path);
  if (const std::string* error = std::get_if<std::string>(&opened))
    throw LibraryError{dlerror_text(*error, path.string())};
  return open_libraries().emplace(path, std::get<dll::shared_library>(std::move(opened))).first->second;
}

const void* mapped_address(SharedLibrary& library) {
  link_map* map = nullptr;
  if (dlinfo(library.library.native(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return nullptr;
  return map->l_ld;  // the dynamic section, which every library has
}

std::filesystem::path library_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return canonical_or_empty(info.dli_fname);
}

std::vector<std::filesystem::path> loaded_libraries(const std::string& beginning_of_name) {
  struct Search {
    const std::string& beginning;
    std::vector<std::filesystem::path> found;
  } search{beginning_of_name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        Search& self = *static_cast<Search*>(context);
        const std::filesystem::path path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.filename().string().starts_with(self.beginning)) self.found.push_back(path);
        return 0;
      },
      &search);
  std::vector<std::filesystem::path> out;
  for (const std::filesystem::path& path : search.found) {
    std::filesystem::path canonical = canonical_or_empty(path);
    if (canonical.empty()) canonical = path;  // deleted since
    if (std::find(out.begin(), out.end(), canonical) == out.end()) out.push_back(std::move(canonical));
  }
  return out;
}

AnyFunction find_function(SharedLibrary& library, const char* name) {
  return library.library.has(name) ? &library.library.get<void()>(name) : nullptr;
}

}  // namespace novaphy::platform
