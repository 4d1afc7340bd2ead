// SPDX-License-Identifier: Apache-2.0
#include "core/live_objects.hpp"

#include <cstring>
#include <mutex>
#include <unordered_set>

#include "core/locks.hpp"
#include "novaphy/plugin_object.hpp"
#include "platform/shared_library.hpp"

namespace novaphy {
namespace {

struct LiveObjects {
  std::unordered_set<const PluginObject*> objects;
};

LiveObjects& live() {
  static LiveObjects& instance = *new LiveObjects;  // never destroyed: objects die while the process ends
  return instance;
}

void add(const PluginObject* object) {
  const std::lock_guard lock(live_objects_mutex());
  live().objects.insert(object);
}

}  // namespace

PluginObject::PluginObject() {
  add(this);
}
PluginObject::PluginObject(const PluginObject&) {
  add(this);
}
PluginObject::~PluginObject() {
  const std::lock_guard lock(live_objects_mutex());
  live().objects.erase(this);
}

std::map<std::filesystem::path, std::size_t> live_objects_by_library() {
  std::map<const void*, std::size_t> by_table;
  {
    const std::lock_guard lock(live_objects_mutex());
    for (const PluginObject* object : live().objects) {
      const void* table =
          nullptr;  // of the virtual functions; the first word of such an object in every C++ ABI here
      std::memcpy(&table, static_cast<const void*>(object), sizeof table);
      ++by_table[table];
    }
  }
  std::map<std::filesystem::path, std::size_t> out;
  for (const auto& [table, count] : by_table)
    if (const auto library = platform::library_of(table); !library.empty()) out[library] += count;
  return out;
}

}  // namespace novaphy
