// SPDX-License-Identifier: Apache-2.0
// How code finds what modules publish: by interface id and name, loading the module when needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "novaphy/error.hpp"
#include "novaphy/export.hpp"

namespace novaphy {

/// One entry of a manifest's `provides`.
struct ProvidedInterface {
  std::string name, summary, module, plugin;
  std::vector<std::string> devices;
  bool can_load = false;  ///< loaded, or nothing in the plan forbids loading it
  std::string reason;     ///< why it cannot load; empty when it can
};

/// The object under (interface_id, name). Loads its module when needed. Throws Error(plugin_not_available)
/// with the whole reason. Any thread.
NOVAPHY_API void* find_interface(std::string_view interface_id, std::string_view name);
/// The same, null when there is none.
NOVAPHY_API void* find_interface_or_null(std::string_view interface_id, std::string_view name);
/// Everything that manifests declare under an interface id, by name. Loads nothing. Any thread.
NOVAPHY_API std::vector<ProvidedInterface> list_interface(std::string_view interface_id);

template <class Interface>
Interface& find(std::string_view name) {
  return *static_cast<Interface*>(find_interface(Interface::kId, name));
}

template <class Interface>
Interface* find_optional(std::string_view name) {
  return static_cast<Interface*>(find_interface_or_null(Interface::kId, name));
}

template <class Interface>
std::vector<ProvidedInterface> list() {
  return list_interface(Interface::kId);
}

}  // namespace novaphy
