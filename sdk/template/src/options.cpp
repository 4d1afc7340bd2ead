// SPDX-License-Identifier: Apache-2.0
#include "@name@/options.hpp"

#include <cmath>

#include "novaphy/error.hpp"
#include "novaphy/json_options.hpp"

namespace @name@ {
namespace {

Options& current() {
  static Options options;
  return options;
}

}  // namespace

Options read_options(std::string_view json, const Options& defaults) {
  Options options = defaults;
  novaphy::JsonOptions values(json, "@name@");
  values.read("drag", options.drag);
  values.finish();
  NOVAPHY_REQUIRE(std::isfinite(options.drag) && options.drag >= 0.0f, novaphy::ErrorKind::value, "@name@: drag is ",
                  options.drag, "; give a rate of at least 0, in 1/s");
  return options;
}

const Options& configured() {
  return current();
}

void configure(const Options& options) {
  current() = options;
}

}  // namespace @name@
