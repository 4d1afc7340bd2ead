// SPDX-License-Identifier: Apache-2.0
#include "platform/host/terminal.hpp"

#include <unistd.h>

#include <string_view>

#include "platform/process.hpp"

namespace novaphy::platform {

bool stdout_has_colours() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  if (const auto refused = environment("NO_COLOR"); refused && !refused->empty()) return false;
  const auto terminal = environment("TERM");
  return terminal && !terminal->empty() && *terminal != "dumb";
}

}  // namespace novaphy::platform
