// SPDX-License-Identifier: Apache-2.0
// novaphy-host forgive NAME: ends the quarantine of a plugin that killed a process while it loaded.
#include <algorithm>
#include <iostream>
#include <memory>

#include "verbs.hpp"

namespace novaphy::host {
namespace {

std::string not_in_quarantine(const std::string& name) {
  std::vector<std::string> names;
  for (const QuarantinedModule& item : Runtime::quarantined()) names.push_back(item.module);
  return "'" + name + "' is not in quarantine" + (names.empty() ? "; nothing is" : known_names(name, names));
}

}  // namespace

Action add_forgive(CLI::App& app, const Common&) {
  CLI::App* verb =
      app.add_subcommand("forgive", "Ends the quarantine of a plugin or module that killed a process");
  const auto name = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "Plugin or module")->required()->type_name("PLUGIN");
  return [name] {
    if (Runtime::forgive(*name) == 0) throw Exit{kUsage, not_in_quarantine(*name)};
    std::cout << "'" << *name << "' is out of quarantine: it loads at its next use\n";
    return int{kOk};
  };
}

}  // namespace novaphy::host
