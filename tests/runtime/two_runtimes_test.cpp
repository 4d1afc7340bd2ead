// SPDX-License-Identifier: Apache-2.0
// A second copy of the runtime's library in one process (NP314): its plugins and ours would not see each
// other.
#include <doctest/doctest.h>

#include "platform/child_process.hpp"
#include "with_runtime.hpp"

namespace {

const std::string kBuild = NOVAPHY_BUILD_DIR;

novaphy::platform::ChildResult start_beside(const std::string& library) {
  return novaphy::platform::run_child({kBuild + "/tests/novaphy_loading_process",
                                       {test::kAll, "open=" + library},
                                       {{"XDG_STATE_HOME", "/dev/null/none"}, {"NOVAPHY_PLUGIN_PATH", ""}},
                                       std::chrono::seconds(20)});
}

}  // namespace

TEST_CASE("two copies of the runtime in one process are refused with both paths (NP314)") {
  const test::ScratchFolder folder;
  const std::string ours = test::fs::canonical(kBuild + "/lib/libnovaphy_runtime.so").string();
  const std::string second = folder.str("libnovaphy_runtime.so.0");
  test::fs::copy_file(ours, second);
  const auto result = start_beside(second);
  CHECK(result.exit_code == 1);
  CHECK(result.output ==
        "NP314 two copies of the runtime are loaded: " + ours + ", " + second + "; remove one\n");
}

TEST_CASE("the same runtime through another name is one copy") {
  const test::ScratchFolder folder;
  test::fs::create_symlink(kBuild + "/lib/libnovaphy_runtime.so", folder.str("libnovaphy_runtime.so.9"));
  CHECK(start_beside(folder.str("libnovaphy_runtime.so.9")).exit_code == 0);
}
