// SPDX-License-Identifier: Apache-2.0
#include "child_command.hpp"

#include "platform/host/own_process.hpp"

namespace novaphy::host {

std::vector<std::string> common_arguments(const Common& common) {
  std::vector<std::string> out;
  const auto each = [&out](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) out.push_back(std::string(flag) + "=" + value);
  };
  if (common.json) out.push_back("--json");
  if (common.safe) out.push_back("--safe");
  if (common.no_lazy) out.push_back("--no-lazy");
  if (common.probe) out.push_back("--probe");
  if (!common.config.empty()) out.push_back("--config=" + common.config);
  each("--plugins", common.plugins);
  each("--plugin", common.manifests);
  each("--allow-writable", common.allow_writable);
  each("--log", common.log);
  return out;
}

platform::ChildCommand own_command(const Common& common) {
  platform::ChildCommand out;
  out.program = platform::own_program();
  out.arguments = common_arguments(common);
  return out;
}

platform::ChildSide& child_side() {
  static platform::ChildSide side;
  return side;
}

}  // namespace novaphy::host
