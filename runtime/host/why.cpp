// SPDX-License-Identifier: Apache-2.0
// novaphy-host why NAME: the resolution of one plugin or module, step by step.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "manifest/problems.hpp"
#include "verbs.hpp"

namespace novaphy::host {

Action add_why(CLI::App& app, const Common& common) {
  CLI::App* verb =
      app.add_subcommand("why", "The resolution of one plugin or module, with every place searched");
  const auto name = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "Plugin or module")->required()->type_name("PLUGIN");
  return [&common, name] {
    const Runtime& runtime = start_runtime(common);
    const std::vector<std::string> lines = runtime.why(*name);
    const std::string reason = runtime.why_not(*name);
    const std::vector<ReportRow> rows = runtime.info(*name);
    const bool is_ready = std::any_of(rows.begin(), rows.end(),
                                      [](const ReportRow& row) { return row.state == PluginState::ready; });
    if (common.json) {
      std::cout << printed(
          {{"name", *name}, {"can_load", reason.empty()}, {"reason", reason}, {"steps", lines}});
    } else {
      for (const std::string& line : lines) std::cout << printable(line) << "\n";
      if (is_ready)
        std::cout << "ready: its library is opened at first use; 'novaphy-host check " << *name
                  << "' tries it now\n";
    }
    return int{rows.empty() ? kUsage : kOk};
  };
}

}  // namespace novaphy::host
