// SPDX-License-Identifier: Apache-2.0
// The host configuration: every NP4xx by its whole line.
#include "resolve/host_config.hpp"

#include <doctest/doctest.h>

#include "scratch_folder.hpp"

using namespace novaphy;

namespace {

std::vector<ManifestFile> known_files() {
  return {read_manifest_text("/p/collision/collision.novaplugin.json",
                             R"({"schema": 1, "name": "collision", "version": "0.1.0", 
              "modules": [{"name": "collision", "library": "l.so", "abi": "1.0"}]})"),
          read_manifest_text("/p/vbd/vbd.novaplugin.json",
                             R"({"schema": 1, "name": "vbd", "version": "0.1.0",
              "modules": [{"name": "vbd", "library": "l.so", "abi": "1.0"},
              {"name": "vbd_diff", "library": "d.so", "abi": "1.0"}],
              "config": {"iterations": {"type": "integer", "default": 10, "min": 1, "doc": "d"},
              "law": {"type": "string", "default": "a", "enum": ["a", "b"], "doc": "d"}}})")};
}

/// Problems of a configuration file, "CODE#pointer: text" a line.
std::string config_problems(const std::string& text) {
  const test::ScratchFolder folder;
  RuntimeOptions options;
  options.config_file = folder.write("novaphy.host.json", text).string();
  std::vector<PluginProblem> found;
  const HostConfig host = read_host_config(options, found);
  if (found.empty()) check_host_config(host, known_files(), found);
  std::string out;
  for (const PluginProblem& problem : found) {
    const std::string line = problem.line(), prefix = problem.code + " " + options.config_file;
    REQUIRE(line.starts_with(prefix));
    out += (out.empty() ? "" : "\n") + problem.code + line.substr(prefix.size());
  }
  return out;
}

}  // namespace

TEST_CASE("NP401: a configuration that is not there or is not JSON") {
  RuntimeOptions options;
  options.config_file = "/nowhere/h.json";
  std::vector<PluginProblem> found;
  read_host_config(options, found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].line() == "NP401 /nowhere/h.json: cannot be read: No such file or directory");
  CHECK(config_problems("{\"paths\": [],\n}") ==
        "NP401: not valid JSON at line 2, column 1: expected string literal, found '}'");
}

TEST_CASE("NP401: a relative configuration where the current folder was removed") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::vector<PluginProblem> found;
  {
    const test::ScratchFolder folder;
    std::filesystem::current_path(folder.path());
    std::filesystem::remove_all(folder.path());
    RuntimeOptions options;
    options.config_file = "h.json";
    read_host_config(options, found);
    std::filesystem::current_path(before);
  }
  REQUIRE(found.size() == 1);
  CHECK(found[0].line() == "NP401 h.json: cannot be read: No such file or directory");
}

TEST_CASE("NP402: unknown keys") {
  CHECK(config_problems(R"({"plugin": []})") == "NP402#/plugin: unknown key; did you mean 'plugins'?");
  CHECK(config_problems(R"({"plugins": [{"name": "vbd", "require": true}]})") ==
        "NP402#/plugins/0/require: unknown key; did you mean 'required'?");
}

TEST_CASE("NP403: wrong types and choices") {
  CHECK(config_problems(R"({"paths": "x"})") == "NP403#/paths: must be an array of strings, is a string");
  CHECK(config_problems(R"({"plugins": [3]})") == "NP403#/plugins/0: must be an object, is 3");
  CHECK(config_problems(R"({"on_error": "stop"})") == "NP403#/on_error: 'stop' is not one of fail, continue");
  CHECK(config_problems(R"({"schema": 2})") == "NP403#/schema: must be 1, is 2");
  CHECK(config_problems(R"({"config": {"vbd": {"iterations": true}}})") ==
        "NP403#/config/vbd/iterations: must be an integer, is true");
}

TEST_CASE("NP404: names that nothing has") {
  CHECK(config_problems(R"({"disable": ["colision"]})") ==
        "NP404#/disable/0: no plugin or module is named 'colision'; did you mean 'collision'?");
  CHECK(config_problems(R"({"plugins": ["zzz"]})") ==
        "NP404#/plugins/0: no plugin or module is named 'zzz'; there are: collision, vbd, vbd_diff");
  CHECK(config_problems(R"({"config": {"vbd_diff": {}}})") ==
        "NP404#/config/vbd_diff: no plugin is named 'vbd_diff'; there are: collision, vbd");
  CHECK(config_problems(R"({"plugins": [{"name": "zzz", "required": false}]})") == "");
  CHECK(config_problems(R"({"disable": ["vbd_diff"], "plugins": ["vbd", "collision"]})") == "");
}

TEST_CASE("what is not required may be absent, with its options and its pin") {
  const std::string hash(64, 'a');
  CHECK(config_problems(R"({"plugins": ["vbd", {"name": "cuda", "required": false}], "disable": ["cuda"],
                            "config": {"cuda": {"memory": 3}}, "sha256": {"cuda": ")" +
                        hash + "\"}}") == "");
  CHECK(config_problems(R"({"plugins": ["vbd", "cuda"], "config": {"cuda": {}}})") ==
        "NP404#/plugins/1: no plugin or module is named 'cuda'; there are: collision, vbd, vbd_diff\n"
        "NP404#/config/cuda: no plugin is named 'cuda'; there are: collision, vbd");
}

TEST_CASE("a manifest that cannot be read may hold the module that a configuration names") {
  std::vector<ManifestFile> files = known_files();
  HostConfig host;
  host.disable.push_back({"nova", "/h.json", "/disable/0", true});
  std::vector<PluginProblem> problems;
  check_host_config(host, files, problems);
  CHECK(problems.size() == 1);
  files.push_back(read_manifest_text("/p/nova_diff/nova_diff.novaplugin.json", "{"));
  problems.clear();
  check_host_config(host, files, problems);
  CHECK(problems.empty());
}

TEST_CASE("a pin is a SHA-256 of a module that was found") {
  const std::string hash(64, 'a');
  CHECK(config_problems(R"({"sha256": {"vbd_diff": ")" + hash + "\"}}") == "");
  CHECK(config_problems(R"({"sha256": {"vbd": "AB"}})") ==
        "NP403#/sha256/vbd: 'AB' is no SHA-256; write the 64 digits that sha256sum prints");
  CHECK(config_problems(R"({"sha256": {"vbd_dif": ")" + hash + "\"}}") ==
        "NP404#/sha256/vbd_dif: no module is named 'vbd_dif'; did you mean 'vbd_diff'?");
}

TEST_CASE("NP405 and NP406: options that do not exist or do not fit") {
  CHECK(config_problems(R"({"config": {"vbd": {"iteration": 3}}})") ==
        "NP405#/config/vbd/iteration: 'vbd' has no option 'iteration'; did you mean 'iterations'?");
  CHECK(config_problems(R"({"config": {"collision": {"a": 3}}})") ==
        "NP405#/config/collision/a: 'collision' has no option 'a'; it has none");
  CHECK(config_problems(R"({"config": {"vbd": {"iterations": 0}}})") ==
        "NP406#/config/vbd/iterations: 0 is below min 1");
  CHECK(config_problems(R"({"config": {"vbd": {"law": "c"}}})") ==
        "NP406#/config/vbd/law: 'c' is not one of a, b");
}

TEST_CASE("paths are relative to the configuration file, and the caller's options stand above it") {
  const test::ScratchFolder folder;
  RuntimeOptions options;
  options.config_file =
      folder
          .write("sub/h.json", R"({"paths": ["../mine"], "plugins": ["collision"], "on_error": "continue",
                                                       "config": {"vbd": {"iterations": 20, "law": "b"}}})")
          .string();
  options.enable = std::vector<std::string>{"vbd"};
  options.config_json = R"({"vbd": {"iterations": 30}})";
  std::vector<PluginProblem> found;
  const HostConfig host = read_host_config(options, found);
  REQUIRE(found.empty());
  CHECK(host.paths == std::vector<std::string>{folder.str("mine")});
  CHECK(host.on_error == "continue");
  REQUIRE(host.plugins.size() == 1);
  CHECK(host.plugins[0].name == "vbd");
  CHECK(host.plugins[0].where() == "command line");
  const nlohmann::json values = plugin_options(host, known_files()[1].manifest);
  CHECK(values["iterations"] == 30);
  CHECK(values["law"] == "b");
}

TEST_CASE(
    "a path with a NUL in it would be another one for the system, and is refused wherever it comes from") {
  const std::string path("/opt\0/more", 10),
      said = "'/opt\\u0000/more' holds a NUL character, which no path has";
  CHECK(config_problems("{\"paths\": [\"/opt\\u0000/more\"]}") == "NP403#/paths/0: " + said);
  RuntimeOptions options;
  options.source = "novaphy.plugins.configure";
  options.paths = options.manifests = options.entry_point_paths = options.allow_writable = {path};
  options.config_file = path;
  std::vector<PluginProblem> found;
  read_host_config(options, found);
  REQUIRE(found.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(found[i].line() == "NP403 novaphy.plugins.configure: " + said);
  CHECK(found[4].line() == "NP401 novaphy.plugins.configure: " + said);
}
