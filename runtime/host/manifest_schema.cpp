// SPDX-License-Identifier: Apache-2.0
// novaphy-host manifest-schema: the JSON schema of manifests.
#include <iostream>

#include "verbs.hpp"

namespace novaphy::host {

Action add_manifest_schema(CLI::App& app, const Common&) {
  app.add_subcommand("manifest-schema", "The JSON schema of manifests, made from the table that checks them");
  return [] {
    std::cout << manifest_schema() << "\n";
    return int{kOk};
  };
}

}  // namespace novaphy::host
