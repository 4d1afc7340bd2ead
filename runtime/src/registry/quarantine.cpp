// SPDX-License-Identifier: Apache-2.0
// Which modules are watched while they load, what is said when they end the process, and which are not loaded
// for what they did to an earlier one.
#include "load/journal.hpp"
#include "platform/files.hpp"
#include "platform/process.hpp"
#include "registry/registry.hpp"

namespace novaphy {

bool Runtime::Registry::is_third_party(const std::filesystem::path& library) const {
  const std::filesystem::path ours =
      platform::canonical_or_empty(platform::runtime_folder() / "novaphy" / "plugins");
  return ours.empty() || !platform::is_inside(library, ours);
}

std::optional<platform::ForeignCall> Runtime::Registry::foreign_call(const PlannedModule& row,
                                                                     const char* what) const {
  if (!options_.journal) return std::nullopt;
  const std::string plugin = file(row).name, advice = "; run 'novaphy-host check " + plugin + "'\n",
                    when = "module '" + row_name(row) + "' of plugin '" + plugin + "' " + what;
  return std::optional<platform::ForeignCall>(
      std::in_place, "novaphy: the process ends because exit() was called while " + when + advice,
      "novaphy: the process crashed while " + when + advice);
}

void Runtime::Registry::quarantine() {
  for (const QuarantinedModule& guilty : unfinished_loads(journal_folder()))
    for (const std::size_t index : order_) {
      const PlannedModule& row = rows_[index];
      if (row.state != PluginState::ready || module(row).name != guilty.module) continue;
      const std::filesystem::path library =
          platform::canonical_or_empty(file(row).path.parent_path() / module(row).library);
      if (library == guilty.library) fail_row(index, {"NP313", quarantine_text(guilty)});
    }
}

}  // namespace novaphy
