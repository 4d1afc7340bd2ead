// SPDX-License-Identifier: Apache-2.0
#include "load/library.hpp"

#include <vector>  // Boost.DLL 1.74 forgets it

#include <boost/dll/shared_library.hpp>

#include <dlfcn.h>

#include <list>
#include <map>
#include <sstream>

#include "novaphy/plugin.hpp"

namespace novaphy {
namespace {

namespace dll = boost::dll;

/// Handles stay open: objects, exceptions and threads of a library may outlive its unload function.
std::list<dll::shared_library>& open_libraries() {
  static std::list<dll::shared_library> libraries;
  return libraries;
}

/// Boost.DLL's text without its own words and without the stale errno that it appends: what dlerror() said.
std::string dlerror_text(const std::string& message, const std::string& path) {
  std::string text = message;
  constexpr std::string_view kBegin = "dlerror system message: ";
  if (const std::size_t begin = text.find(kBegin); begin != std::string::npos) text = text.substr(begin + kBegin.size());
  if (const std::size_t end = text.rfind("): "); end != std::string::npos) text.resize(end);
  if (text.starts_with(path + ": ")) text = text.substr(path.size() + 2);
  return text;
}

std::string hint_for(const std::string& error) {
  if (error.find("undefined symbol") != std::string::npos) return "; built against another SDK, or a missing link library";
  if (error.find("cannot open shared object file") != std::string::npos) return "; install the package that has it";
  return {};
}

dll::shared_library& open(const std::string& path) {
  // now: an undefined symbol is an error here and not the end of the process at the first call. local: plugins see each
  // other through the registry alone. nodelete: see open_libraries().
  const auto mode = dll::load_mode::rtld_now | dll::load_mode::rtld_local | static_cast<dll::load_mode::type>(RTLD_NODELETE);
  dll::shared_library library;
  try {
    library.load(path, mode);
  } catch (const std::exception& error) {
    const std::string text = dlerror_text(error.what(), path);
    throw LoadFailure{"NP302", "cannot load " + path + ": " + text + hint_for(text)};
  }
  return open_libraries().emplace_back(std::move(library));
}

const novaphy_plugin* call_entry(dll::shared_library& library, const std::string& path) {
  if (!library.has(NOVAPHY_PLUGIN_ENTRY))
    throw LoadFailure{"NP303", path + " has no " NOVAPHY_PLUGIN_ENTRY "; use NOVAPHY_PLUGIN(...) in one source file"};
  const novaphy_plugin* plugin = nullptr;
  try {
    plugin = library.get<const novaphy_plugin*()>(NOVAPHY_PLUGIN_ENTRY)();
  } catch (const std::exception& error) {
    throw LoadFailure{"NP310", std::string("the entry function threw: ") + error.what()};
  } catch (...) {
    throw LoadFailure{"NP310", "the entry function threw an unknown exception"};
  }
  if (plugin == nullptr) throw LoadFailure{"NP303", path + ": " NOVAPHY_PLUGIN_ENTRY " returned null; return the descriptor"};
  return plugin;
}

std::map<std::string, std::string> parse_fingerprint(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ';'))
    if (const std::size_t equal = item.find('='); equal != std::string::npos) out[item.substr(0, equal)] = item.substr(equal + 1);
  return out;
}

std::string text_or(const char* text, const char* fallback) { return text == nullptr ? fallback : text; }

}  // namespace

FingerprintDifference compare_fingerprints(const std::string& library, const std::string& runtime) {
  FingerprintDifference out;
  auto theirs = parse_fingerprint(library);
  for (const auto& [key, ours] : parse_fingerprint(runtime)) {
    const std::string other = theirs.contains(key) ? theirs[key] : "unknown";
    if (other == ours) continue;
    if (key == "compiler")
      out.note = "built with " + other + ", runtime with " + ours + "; works as a rule, not tested by us";
    else
      out.hard += (out.hard.empty() ? "" : "; ") + key + "=" + other + ", runtime has " + ours;
  }
  return out;
}

void check_descriptor(const novaphy_plugin* plugin, const ExpectedModule& expected, std::vector<std::string>& notes) {
  if (plugin->abi_major != NOVAPHY_ABI_MAJOR)
    throw LoadFailure{"NP304", "built for plugin ABI " + std::to_string(plugin->abi_major) + ", this runtime speaks " +
                                   std::to_string(NOVAPHY_ABI_MAJOR)};
  if (plugin->struct_size < sizeof(novaphy_plugin))
    throw LoadFailure{"NP305", "descriptor is " + std::to_string(plugin->struct_size) + " bytes, ABI 1.0 needs " +
                                   std::to_string(sizeof(novaphy_plugin))};
  if (plugin->abi_minor > NOVAPHY_ABI_MINOR)
    throw LoadFailure{"NP306", "needs plugin ABI " + std::to_string(plugin->abi_major) + "." + std::to_string(plugin->abi_minor) +
                                   ", this runtime has " + NOVAPHY_TEXT_OF(NOVAPHY_ABI_MAJOR) "." NOVAPHY_TEXT_OF(NOVAPHY_ABI_MINOR)};
  if (plugin->cxx_fingerprint != nullptr) {
    const FingerprintDifference difference = compare_fingerprints(plugin->cxx_fingerprint, kCxxFingerprint);
    if (!difference.hard.empty())
      throw LoadFailure{"NP307", "built with " + difference.hard + "; rebuild with the SDK's flags"};
    if (!difference.note.empty()) notes.push_back(difference.note);
  }
  const std::string name = text_or(plugin->name, "(null)"), version = text_or(plugin->version, "(null)");
  if (name != expected.name || version != expected.version)
    throw LoadFailure{"NP308", "library says '" + name + "' " + version + ", manifest says '" + expected.name + "' " + expected.version};
  if (plugin->load == nullptr) throw LoadFailure{"NP305", "descriptor has no load function; use NOVAPHY_PLUGIN(...)"};
}

const novaphy_plugin* open_module(const std::filesystem::path& path, const ExpectedModule& expected,
                                  std::vector<std::string>& notes) {
  const novaphy_plugin* plugin = call_entry(open(path.string()), path.string());
  check_descriptor(plugin, expected, notes);
  return plugin;
}

}  // namespace novaphy
