// SPDX-License-Identifier: Apache-2.0
#include "load/library.hpp"

#include <map>
#include <sstream>

#include "load/checked_library.hpp"
#include "novaphy/plugin.hpp"
#include "platform/elf_file.hpp"
#include "platform/shared_library.hpp"

namespace novaphy {
namespace {

std::string hint_for(const std::string& error) {
  if (error.find("undefined symbol") != std::string::npos)
    return "; built against another SDK, or a missing link library";
  if (error.find("cannot open shared object file") != std::string::npos)
    return "; install the package that has it";
  return {};
}

platform::SharedLibrary& open(const std::filesystem::path& path) {
  // the system's own words for a library of another machine are "No such file or directory", and half a file
  // ends the process
  if (const std::string reason = platform::unloadable_library(path); !reason.empty())
    throw LoadFailure{"NP302", "cannot load " + path.string() + ": it " + reason};
  try {
    return platform::open_library(path);
  } catch (const platform::LibraryError& error) {
    throw LoadFailure{"NP302", "cannot load " + path.string() + ": " + error.text + hint_for(error.text)};
  }
}

const novaphy_plugin* call_entry(platform::SharedLibrary& library, const std::string& path) {
  const auto entry =
      reinterpret_cast<novaphy_plugin_entry_function>(platform::find_function(library, NOVAPHY_PLUGIN_ENTRY));
  if (entry == nullptr)
    throw LoadFailure{"NP303",
                      path + " has no " NOVAPHY_PLUGIN_ENTRY "; use NOVAPHY_PLUGIN(...) in one source file"};
  const novaphy_plugin* plugin = nullptr;
  try {
    plugin = entry();
  } catch (const std::exception& error) {
    throw LoadFailure{"NP310", std::string("the entry function threw: ") + error.what()};
  } catch (...) {
    throw LoadFailure{"NP310", "the entry function threw an unknown exception"};
  }
  if (plugin == nullptr)
    throw LoadFailure{"NP303", path + ": " NOVAPHY_PLUGIN_ENTRY " returned null; return the descriptor"};
  return plugin;
}

std::map<std::string, std::string> parse_fingerprint(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ';'))
    if (const std::size_t equal = item.find('='); equal != std::string::npos)
      out[item.substr(0, equal)] = item.substr(equal + 1);
  return out;
}

std::string text_or(const char* text, const char* fallback) {
  return text == nullptr ? fallback : text;
}

}  // namespace

std::string two_runtimes() {
  std::string paths;
  const auto copies = platform::loaded_libraries("libnovaphy_runtime.so");
  if (copies.size() < 2) return {};
  for (const std::filesystem::path& path : copies) paths += (paths.empty() ? "" : ", ") + path.string();
  return "two copies of the runtime are loaded: " + paths + "; remove one";
}

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

void check_descriptor(const novaphy_plugin* plugin, const ExpectedModule& expected,
                      std::vector<std::string>& notes) {
  if (plugin->abi_major != NOVAPHY_ABI_MAJOR)
    throw LoadFailure{"NP304", "built for plugin ABI " + std::to_string(plugin->abi_major) +
                                   ", this runtime speaks " + std::to_string(NOVAPHY_ABI_MAJOR)};
  if (plugin->struct_size < sizeof(novaphy_plugin))
    throw LoadFailure{"NP305", "descriptor is " + std::to_string(plugin->struct_size) +
                                   " bytes, ABI 1.0 needs " + std::to_string(sizeof(novaphy_plugin))};
  if (plugin->abi_minor > NOVAPHY_ABI_MINOR)
    throw LoadFailure{"NP306", "needs plugin ABI " + std::to_string(plugin->abi_major) + "." +
                                   std::to_string(plugin->abi_minor) + ", this runtime has " +
                                   NOVAPHY_TEXT_OF(NOVAPHY_ABI_MAJOR) "." NOVAPHY_TEXT_OF(NOVAPHY_ABI_MINOR)};
  if (plugin->cxx_fingerprint != nullptr) {
    const FingerprintDifference difference = compare_fingerprints(plugin->cxx_fingerprint, kCxxFingerprint);
    if (!difference.hard.empty())
      throw LoadFailure{"NP307", "built with " + difference.hard + "; rebuild with the SDK's flags"};
    if (!difference.note.empty()) notes.push_back("NP315 " + difference.note);
  }
  const std::string name = text_or(plugin->name, "(null)"), version = text_or(plugin->version, "(null)");
  if (name != expected.name || version != expected.version)
    throw LoadFailure{"NP308", "library says '" + name + "' " + version + ", manifest says '" +
                                   expected.name + "' " + expected.version +
                                   "; build and install both together"};
  if (plugin->load == nullptr)
    throw LoadFailure{"NP305", "descriptor has no load function; use NOVAPHY_PLUGIN(...)"};
}

const novaphy_plugin* open_module(const CheckedLibrary& file, const ExpectedModule& expected,
                                  std::vector<std::string>& notes) {
  platform::SharedLibrary& library = open(file.path());
  file.check_loaded(library);
  const novaphy_plugin* plugin = call_entry(library, file.path().string());
  check_descriptor(plugin, expected, notes);
  return plugin;
}

}  // namespace novaphy
