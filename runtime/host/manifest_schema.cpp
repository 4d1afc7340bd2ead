// SPDX-License-Identifier: Apache-2.0
// novaphy-host manifest-schema: the formats of manifests and host configurations.
#include <iostream>
#include <memory>

#include "novaphy/reference.hpp"
#include "verbs.hpp"

namespace novaphy::host {

Action add_manifest_schema(CLI::App& app, const Common&) {
  CLI::App* verb = app.add_subcommand("manifest-schema",
                                      "The JSON schema of manifests, made from the table that checks them");
  const auto host_config = std::make_shared<bool>(false), page = std::make_shared<bool>(false);
  CLI::Option* of_host =
      verb->add_flag("--host-config", *host_config, "The JSON schema of novaphy.host.json instead");
  verb->add_flag("--page", *page, "Both formats as Markdown")->excludes(of_host);
  return [host_config, page] {
    if (*page)
      std::cout << manifest_page();
    else
      std::cout << (*host_config ? host_config_schema() : manifest_schema()) << "\n";
    return int{kOk};
  };
}

}  // namespace novaphy::host
