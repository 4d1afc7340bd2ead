// SPDX-License-Identifier: Apache-2.0
// novaphy-host: its verbs, texts and exit codes.
#include <doctest/doctest.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "host_process.hpp"

using nlohmann::json;
using test::contains;
using test::HostResult;
using test::run_host;
using test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

const std::string kAll = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all";

std::string manifest_of(const std::string& name) {
  return kAll + "/" + name + "/" + name + ".novaplugin.json";
}

}  // namespace

TEST_CASE("list shows every plugin with state, manifest and reason, and loads none") {
  const HostResult r = run_host("list");
  CHECK(r.code == 0);
  CHECK(r.err == "");
  CHECK(r.out.starts_with("PLUGIN "));
  CHECK(contains(r.out, "ready        " + manifest_of("throws") + "\n"));
  CHECK(contains(r.out, "    NP105 " + manifest_of("unknown_key") +
                            "#/modules/0/requirse: unknown key; did you mean 'requires'?\n"));
  CHECK_FALSE(contains(r.out, "loaded  "));
}

TEST_CASE("list --json has the same as one document") {
  const HostResult r = run_host("--json list");
  CHECK(r.code == 0);
  const json out = json::parse(r.out);
  CHECK(out["version"] == "0.1.0");
  bool seen = false;
  for (const json& row : out["modules"]) {
    if (row["plugin"] != "missing_library") continue;
    seen = true;
    CHECK(row["state"] == "failed");
    CHECK(row["path"] == manifest_of("missing_library"));
    CHECK(row["reason"] == "library libnovaphy_missing_library.so not found; was the plugin built?");
  }
  CHECK(seen);
  CHECK(out["searched"][0]["path"] == kAll);
  CHECK(json::parse(run_host("list --json").out) == out);
}

TEST_CASE("why tells the steps; an unknown name is a mistake of usage") {
  const HostResult r = run_host("why missing_requirement");
  CHECK(r.code == 0);
  CHECK(contains(r.out, "searched " + kAll + " (NOVAPHY_PLUGIN_PATH): holds " +
                            manifest_of("missing_requirement") + "\n"));
  CHECK(r.out.ends_with("module missing_requirement: blocked\n"));
  CHECK(run_host("why good")
            .out.ends_with("module good: ready\nready: its library is opened at first use; 'novaphy-host "
                           "check good' tries it now\n"));
  const HostResult unknown = run_host("why goodd");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.out, "no plugin or module is named 'goodd'; did you mean 'good'? There are: "));
  const json out = json::parse(run_host("why good --json").out);
  CHECK(out["can_load"] == true);
  CHECK(out["name"] == "good");
}

TEST_CASE("run trains a demo and prints the falling loss") {
  const HostResult r = run_host("run halving --log off");
  CHECK(r.code == 0);
  CHECK(r.out ==
        "halving: halves a number\n"
        "iteration    0  loss 16\n"
        "iteration    1  loss 4\n"
        "iteration    2  loss 1\n"
        "after 3 iterations  loss 0.25\n");
  CHECK(r.err == "");
}

TEST_CASE("run --json prints one document and nothing else") {
  const json out = json::parse(run_host("run halving --iterations 2 --set start=8 --json").out);
  CHECK(out["losses"] == json{64, 16});
  CHECK(out["loss"] == 4);
  CHECK(out["iterations"] == 2);
}

TEST_CASE(
    "run --iterations 0 --dump-states writes the initial rollout as raw float32 with a JSON beside it") {
  const ScratchFolder folder;
  const HostResult r = run_host("run halving --iterations 0 --dump-states " + folder.str("a/b"));
  CHECK(r.code == 0);
  const std::string raw = test::read_text(folder.path() / "a/b/value.f32");
  REQUIRE(raw.size() == 8);
  float values[2];
  std::memcpy(values, raw.data(), 8);
  CHECK(values[0] == 4.0f);
  CHECK(values[1] == 0.25f);
  const json out = json::parse(test::read_text(folder.path() / "a/b/states.json"));
  CHECK(out["arrays"]["value"] == json{{"file", "value.f32"}, {"shape", {2, 1}}, {"dtype", "float32"}});
  CHECK(out["arrays"]["loss"] == json{{"file", "loss.f32"}, {"shape", {1}}, {"dtype", "float32"}});
  float loss = 0.0f;
  const std::string raw_loss = test::read_text(folder.path() / "a/b/loss.f32");
  REQUIRE(raw_loss.size() == 4);
  std::memcpy(&loss, raw_loss.data(), 4);
  CHECK(loss == 16.0f);
  CHECK(out["provenance"]["version"] == "0.1.0");
  CHECK(out["provenance"]["plugins"]["tiny_demo"] == "0.1.0");
  CHECK(out["provenance"]["iterations"] == 0);
  CHECK(out["provenance"]["command"][1] == "run");
  CHECK_FALSE(out["provenance"]["commit"].get<std::string>().empty());
}

TEST_CASE("a folder that cannot be written is an error with its name") {
  const ScratchFolder folder;
  const std::string file = folder.write("file", "").string();
  const HostResult r = run_host("run halving --iterations 0 --log off --dump-states " + file + "/x");
  CHECK(r.code == 1);
  CHECK(r.err == "novaphy-host: cannot make the folder " + file + "/x: Not a directory\n");
}

TEST_CASE("a demo that throws no exception object ends in one line") {
  const HostResult r =
      run_host("run throwing --log off", std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/ill_mannered");
  CHECK(r.code == 1);
  CHECK(r.err == "novaphy-host: a plugin threw something that is no exception object\n");
}

TEST_CASE("list --json is valid where a path is no UTF-8") {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "a\xff");
  folder.write_plugin("here", "a\xff");
  const HostResult r = run_host("list --json", folder.str("a\xff"));
  CHECK(r.code == 0);
  bool seen = false;
  const json out = json::parse(r.out);
  for (const json& row : out["modules"])
    seen = seen ||
           (row["plugin"] == "here" && row["path"] == folder.str("a\xef\xbf\xbd/here/here.novaplugin.json"));
  CHECK(seen);
}

TEST_CASE("errors prints the page of all codes, or what one of them means") {
  CHECK(test::run_host("errors").out ==
        test::read_text(test::fs::path(NOVAPHY_SOURCE_DIR) / "sdk/docs/errors.md"));
  const test::HostResult one = test::run_host("errors NP103");
  CHECK(one.code == 0);
  CHECK(one.out ==
        "NP103: not an object\nThe manifest's outermost value is no JSON object.\n"
        "Put everything into one pair of braces.\n");
  const test::HostResult none = test::run_host("errors NP13");
  CHECK(none.code == 2);
  CHECK(none.err == "novaphy-host: no error code 'NP13'; did you mean 'NP103'?\n");
}

TEST_CASE("a demo that does not exist is NP408 with the nearest one") {
  const HostResult r = run_host("run halvin --log off --plugins good,tiny_demo");
  CHECK(r.code == 2);
  CHECK(contains(r.err,
                 "novaphy-host: NP408 command line: no demo 'halvin'; did you mean 'halving'? There are: "));
  CHECK(contains(r.err, "halving\n"));
}

TEST_CASE("a demo whose requirement is disabled says which module is missing and why") {
  const ScratchFolder folder;
  const std::string config =
      folder.write("novaphy.host.json", R"({"schema": 1, "disable": ["good"]})").string();
  const HostResult r = run_host("run halving --log off --config " + config);
  CHECK(r.code == 1);
  CHECK(r.err ==
        "novaphy-host: no novaphy.IDemo/1 'halving': plugin 'tiny_demo' isn't loaded: blocked: requires "
        "'good', "
        "which is disabled by " +
            config + "#/disable/0\n");
}

TEST_CASE("a required plugin that fails ends run with its line, unless the configuration says continue") {
  const HostResult r = run_host("run halving --log off --plugins tiny_demo,throws");
  CHECK(r.code == 1);
  CHECK(r.err == "novaphy-host: NP407 command line: required plugin 'throws' failed:\nNP310 " +
                     manifest_of("throws") + "#/modules/0: load threw: the lookup table is empty\n");
  const ScratchFolder folder;
  const std::string config =
      folder.write("h.json", R"({"plugins": ["tiny_demo", "throws"], "on_error": "continue"})").string();
  CHECK(run_host("run halving --config " + config).code == 0);
}

TEST_CASE("a wrong configuration is code 3 with every line") {
  const ScratchFolder folder;
  const std::string config = folder.write("h.json", R"({"plugin": [], "paths": 3})").string();
  const HostResult r = run_host("list --config " + config);
  CHECK(r.code == 3);
  CHECK(r.err == "novaphy-host: NP403 " + config + "#/paths: must be an array of strings, is 3\nNP402 " +
                     config + "#/plugin: unknown key; did you mean 'plugins'?\n");
  CHECK(run_host("list --config /nowhere.json").err ==
        "novaphy-host: NP401 /nowhere.json: cannot be read: No such file or directory\n");
  CHECK(run_host("list --plugins good,throw --log off").err ==
        "novaphy-host: NP404 command line: no plugin or module is named 'throw'; did you mean 'throws'?\n");
}

TEST_CASE("help, version and the schema") {
  CHECK(run_host("--help").code == 0);
  CHECK(run_host("--version").out == "novaphy-host 0.1.0\n");
  CHECK(json::parse(run_host("manifest-schema").out)["title"] == "NovaPhy plugin manifest");
}
