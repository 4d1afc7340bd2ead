// SPDX-License-Identifier: Apache-2.0
#include "resolve/load_order.hpp"

#include <algorithm>
#include <tuple>

namespace novaphy {

std::vector<std::size_t> load_order(std::vector<PlannedModule>& rows,
                                    const std::vector<ManifestFile>& files) {
  std::vector<std::size_t> waiting, order;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].state == PluginState::ready) waiting.push_back(i);
  const auto key = [&](std::size_t i) {
    const ModuleManifest& module = files[rows[i].file].manifest.modules[*rows[i].module];
    return std::tuple(module.phase, module.name);
  };
  std::sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });

  const auto is_done = [&](std::size_t i) { return std::find(order.begin(), order.end(), i) != order.end(); };
  const auto all_done = [&](const std::vector<std::size_t>& list) {
    return std::all_of(list.begin(), list.end(), is_done);
  };
  while (!waiting.empty()) {
    auto next = std::find_if(waiting.begin(), waiting.end(), [&](std::size_t i) {
      return all_done(rows[i].required) && all_done(rows[i].optional);
    });
    if (next == waiting.end()) {
      // only optional modules can make a circle here: the plan has blocked the others
      next = std::find_if(waiting.begin(), waiting.end(),
                          [&](std::size_t i) { return all_done(rows[i].required); });
      std::erase_if(rows[*next].optional, [&](std::size_t i) { return !is_done(i); });
    }
    order.push_back(*next);
    waiting.erase(next);
  }
  return order;
}

}  // namespace novaphy
