// SPDX-License-Identifier: Apache-2.0
// The ball on novaphy-host, and what is said when differentiability is switched off.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "host_process.hpp"

using test::HostResult;
using test::run_host;
using test::ScratchFolder;

TEST_CASE("run diffsim_ball prints a loss that falls") {
  const HostResult r = run_host("run diffsim_ball --iterations 4 --json", "");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const nlohmann::json out = nlohmann::json::parse(r.out);
  REQUIRE(out["losses"].size() == 4);
  CHECK(out["losses"][0].get<float>() == 9.105798f);
  CHECK(out["loss"].get<float>() < out["losses"][3].get<float>());
  CHECK(out["losses"][3].get<float>() < out["losses"][0].get<float>());
}

TEST_CASE("without nova_diff, run diffsim_ball names the missing module and who disabled it") {
  const ScratchFolder folder;
  const std::string config =
      folder.write("novaphy.host.json", R"({"schema": 1, "disable": ["nova_diff"]})").string();
  const HostResult r = run_host("run diffsim_ball --config " + config, "");
  CHECK(r.code == 1);
  CHECK(r.err ==
        "novaphy-host: no novaphy.IDemo/1 'diffsim_ball': plugin 'demos' isn't loaded: blocked: requires "
        "'nova', "
        "which is disabled by " +
            config + "#/disable/0\n");
  CHECK(r.out == "");
}

TEST_CASE("a misspelt demo names the nearest one") {
  const HostResult r = run_host("run difsim_ball", "");
  CHECK(r.code == 2);
  CHECK(r.err ==
        "novaphy-host: NP408 command line: no demo 'difsim_ball'; did you mean 'diffsim_ball'? There are: "
        "diffsim_ball, diffsim_soft_body\n");
}
