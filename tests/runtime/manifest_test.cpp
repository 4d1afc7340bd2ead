// SPDX-License-Identifier: Apache-2.0
// The manifest reader: every problem by its whole line.
#include "manifest/manifest.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace novaphy;

namespace {

constexpr const char* kPath = "/plugins/vbd/vbd.novaplugin.json";

/// A whole manifest; `module` and `top` are further members of the module and of the top.
std::string manifest(const std::string& module = "", const std::string& top = "") {
  return R"({"schema": 1, "name": "vbd", "version": "0.1.0", "modules": [
             {"name": "vbd", "library": "libnovaphy_vbd.so", "abi": "1.0")" +
         (module.empty() ? "" : ", " + module) + "}]" + (top.empty() ? "" : ", " + top) + "}";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// The lines of all problems without "CODE path" where that is vbd's own: "NP105#/x: ...".
std::string problems(const std::string& text) {
  std::string out;
  for (const PluginProblem& problem : read_manifest_text(kPath, text).problems) {
    CHECK(problem.path == kPath);
    const std::string line = problem.line(), prefix = problem.code + " " + kPath;
    REQUIRE(line.starts_with(prefix));
    out += (out.empty() ? "" : "\n") + problem.code + line.substr(prefix.size());
  }
  return out;
}

}  // namespace

TEST_CASE("a manifest with everything is read whole") {
  const ManifestFile file = read_manifest_text(
      kPath,
      manifest(
          R"("requires": {"collision": ">=0.1 <0.2"}, "optional": {"viewer": "*"}, "conflicts": ["vbd_old"],
         "phase": "late",
         "load": "startup",
         "provides": [{"interface": "novaphy.ISolverFactory/1", "name": "vbd", "summary": "s",
                       "devices": ["cpu"]}],
         "python": {"module": "_novaphy_vbd", "exports": {"novaphy.solvers": ["SolverVBD"]}}, "x-mine": 1)",
          R"("title": "t", "runtime": ">=0.1", "enabled": false, "platforms": ["linux-x86_64"],
         "authors": ["a"],
         "x-note": {},
         "config": {"iterations": {"type": "integer", "default": 10, "min": 1, "max": 1000, "doc": "sweeps"}},
         "data": "assets")"));
  REQUIRE(file.problems.empty());
  const Manifest& m = file.manifest;
  CHECK(m.name == "vbd");
  CHECK(m.version_text == "0.1.0");
  CHECK_FALSE(m.enabled);
  CHECK(m.platforms == std::vector<std::string>{"linux-x86_64"});
  const ModuleManifest& module = m.modules.at(0);
  CHECK(module.abi_major == 1);
  CHECK(module.required.at(0).name == "collision");
  CHECK(module.optional.at(0).name == "viewer");
  CHECK(module.conflicts == std::vector<std::string>{"vbd_old"});
  CHECK(module.phase == Phase::late);
  CHECK(module.load_at_startup);
  CHECK(module.provides.at(0).interface_id == "novaphy.ISolverFactory/1");
  CHECK(module.python->exports.at("novaphy.solvers") == std::vector<std::string>{"SolverVBD"});
  CHECK(m.config["iterations"]["default"] == 10);
}

TEST_CASE("NP101: a file that cannot be read says why") {
  const ManifestFile file = read_manifest("/nowhere/vbd/vbd.novaplugin.json");
  REQUIRE(file.problems.size() == 1);
  CHECK(file.problems[0].line() ==
        "NP101 /nowhere/vbd/vbd.novaplugin.json: cannot be read: No such file or directory");
}

TEST_CASE("NP102: text that is not JSON gives line and column, what was expected and what was read") {
  CHECK(problems("{\n\"schema\": 1,\n\"version\": 0.1.0 }") ==
        "NP102: not valid JSON at line 3, column 15: expected '}'; last read '0.1.'");
  CHECK(problems("{\"a\" 1}") ==
        "NP102: not valid JSON at line 1, column 6: expected ':', found number literal");
  CHECK(problems("{\"a\": 1") ==
        "NP102: not valid JSON at line 1, column 8: expected '}', found end of input");
  CHECK(problems("{\"a\": tru}") ==
        "NP102: not valid JSON at line 1, column 10: invalid literal; last read '\"a\": tru}'");
  CHECK(problems("// words\n{}") ==
        "NP102: not valid JSON at line 1, column 1: invalid literal; last read '/'");
}

TEST_CASE("NP103: the top must be an object") {
  CHECK(problems("[1]") == "NP103: must hold a JSON object, holds an array");
  CHECK(problems("3") == "NP103: must hold a JSON object, holds 3");
}

TEST_CASE("NP104: a key or a module that is given twice") {
  CHECK(problems(manifest("", "\"name\": \"vbd\"")) == "NP104#/name: given twice");
  CHECK(problems(manifest("\"abi\": \"1.0\"")) == "NP104#/modules/0/abi: given twice");
  CHECK(problems(
            replaced(manifest(), "}]", "}, {\"name\": \"vbd\", \"library\": \"l.so\", \"abi\": \"1.0\"}]")) ==
        "NP104#/modules/1/name: 'vbd' is the name of an earlier module; give each its own");
}

TEST_CASE("NP105: unknown keys, with the nearest one that exists") {
  CHECK(problems(manifest("\"requirse\": {}")) ==
        "NP105#/modules/0/requirse: unknown key; did you mean 'requires'?");
  CHECK(problems(manifest("", "\"colour\": 1")) == "NP105#/colour: unknown key");
  CHECK(problems(manifest("", "\"a/b~c\": 1")) == "NP105#/a~1b~0c: unknown key");
}

TEST_CASE("NP106: required keys") {
  CHECK(problems(replaced(manifest(), R"("version": "0.1.0", )", "")) == "NP106#/version: required");
  CHECK(problems(R"({"schema": 1, "name": "vbd", "version": "0.1.0", "modules": [{"name": "vbd"}]})") ==
        "NP106#/modules/0/library: required; the build writes it into the copy beside the library\n"
        "NP106#/modules/0/abi: required; the build writes it into the copy beside the library");
}

TEST_CASE("NP107: types are never converted") {
  CHECK(problems(replaced(manifest(), "\"schema\": 1", "\"schema\": 1.5")) ==
        "NP107#/schema: must be an integer, is 1.5");
  CHECK(problems(replaced(manifest(), "\"schema\": 1", "\"schema\": true")) ==
        "NP107#/schema: must be an integer, is true");
  CHECK(problems(replaced(manifest(), "\"schema\": 1", "\"schema\": 4294967297")) ==
        "NP107#/schema: must be an integer, is 4294967297");
  CHECK(problems(replaced(manifest(), "\"schema\": 1", "\"schema\": 0")) == "NP107#/schema: must be 1, is 0");
  CHECK(problems(manifest("\"requires\": [\"a\"]")) ==
        "NP107#/modules/0/requires: must be an object, is an array");
  CHECK(problems(manifest("\"provides\": [3]")) == "NP107#/modules/0/provides/0: must be an object, is 3");
  CHECK(problems(manifest("", "\"enabled\": \"yes\"")) ==
        "NP107#/enabled: must be true or false, is a string");
  CHECK(problems(manifest("", "\"title\": \"two\\nlines\"")) == "NP107#/title: must be one line");
  CHECK(problems(manifest("", "\"platforms\": [1]")) ==
        "NP107#/platforms: must be an array of strings, is an array");
  CHECK(problems(R"({"schema": 1, "name": "vbd", "version": "0.1.0", "modules": []})") ==
        "NP107#/modules: must hold at least one module");
}

TEST_CASE("NP108: a schema of the future") {
  CHECK(problems(replaced(manifest(), "\"schema\": 1", "\"schema\": 2")) ==
        "NP108#/schema: is 2, this runtime reads 1; update NovaPhy or use an older build of the plugin");
}

TEST_CASE("NP109: names") {
  CHECK(problems(replaced(manifest(), "{\"name\": \"vbd\"", "{\"name\": \"VBD\"")) ==
        "NP109#/modules/0/name: 'VBD' must match [a-z][a-z0-9_]{1,31}");
  CHECK(problems(manifest("\"requires\": {\"A b\": \"*\"}")) ==
        "NP109#/modules/0/requires/A b: 'A b' must match [a-z][a-z0-9_]{1,31}");
  CHECK(problems(manifest("\"python\": {\"module\": \"a-b\", \"exports\": {}}")) ==
        "NP109#/modules/0/python/module: 'a-b' is not the name of a Python module");
}

TEST_CASE("NP110: the name equals the file's and the folder's") {
  const ManifestFile file = read_manifest_text("/p/other/vbd2.novaplugin.json", manifest());
  REQUIRE(file.problems.size() == 2);
  CHECK(file.problems[0].line() ==
        "NP110 /p/other/vbd2.novaplugin.json#/name: is 'vbd', the file is 'vbd2.novaplugin.json'; make them "
        "equal");
  CHECK(file.problems[1].line() ==
        "NP110 /p/other/vbd2.novaplugin.json#/name: is 'vbd', the folder is 'other'; make them equal");
}

TEST_CASE("NP111: versions and ranges") {
  CHECK(problems(replaced(manifest(), "0.1.0", "0.1")) ==
        "NP111#/version: '0.1' is not a version; write 'MAJOR.MINOR.PATCH'");
  CHECK(problems(manifest("\"requires\": {\"collision\": \"^1.0\"}")) ==
        "NP111#/modules/0/requires/collision: '^1.0' is not a range; write '>=1.0 <2.0'");
  CHECK(problems(manifest("\"requires\": {\"collision\": \"^3.2\"}")) ==
        "NP111#/modules/0/requires/collision: '^3.2' is not a range; write '>=3.2 <4.0'");
  CHECK(problems(manifest("", "\"runtime\": \"latest\"")) ==
        "NP111#/runtime: 'latest' is not a range; write '>=1.0 <2.0'");
  CHECK(problems(replaced(manifest(), "\"abi\": \"1.0\"", "\"abi\": \"1\"")) ==
        "NP111#/modules/0/abi: '1' is not an ABI; write 'MAJOR.MINOR'");
}

TEST_CASE("NP112: choices") {
  CHECK(problems(manifest("\"phase\": \"early\"")) ==
        "NP112#/modules/0/phase: 'early' is not one of device, default, late");
  CHECK(problems(manifest("\"load\": \"now\"")) ==
        "NP112#/modules/0/load: 'now' is not one of startup, lazy");
}

TEST_CASE("NP113: paths stay inside the plugin's folder") {
  CHECK(problems(replaced(manifest(), "libnovaphy_vbd.so", "../x.so")) ==
        "NP113#/modules/0/library: '../x.so' leaves the plugin's folder");
  CHECK(problems(replaced(manifest(), "libnovaphy_vbd.so", "/lib/x.so")) ==
        "NP113#/modules/0/library: '/lib/x.so' leaves the plugin's folder");
  CHECK(problems(manifest("", "\"data\": \"a/../../b\"")) ==
        "NP113#/data: 'a/../../b' leaves the plugin's folder");
}

TEST_CASE("NP114: interface ids") {
  for (const char* id :
       {"ISolver", "novaphy.ISolver", "novaphy.ISolver/", "novaphy.ISolver/x", "ISolver/1", "novaphy./1"})
    CHECK(
        problems(manifest("\"provides\": [{\"interface\": \"" + std::string(id) + "\", \"name\": \"n\"}]")) ==
        "NP114#/modules/0/provides/0/interface: '" + std::string(id) + "' must be 'dotted.Name/INTEGER'");
}

TEST_CASE("NP115: a module requires others, and each once") {
  CHECK(problems(manifest("\"requires\": {\"vbd\": \"*\"}")) ==
        "NP115#/modules/0/requires/vbd: a module cannot require itself");
  CHECK(problems(manifest("\"requires\": {\"aa\": \"*\"}, \"optional\": {\"aa\": \"*\"}")) ==
        "NP115#/modules/0/optional/aa: stands in requires too; keep one of the two");
}

TEST_CASE("NP116: a default fits its own description") {
  const auto option = [](const std::string& description) {
    return problems(manifest("", "\"config\": {\"k\": " + description + "}"));
  };
  CHECK(option(R"({"type": "integer", "default": 0, "min": 1, "doc": "d"})") ==
        "NP116#/config/k/default: 0 is below min 1");
  CHECK(option(R"({"type": "number", "default": 2.5, "max": 1, "doc": "d"})") ==
        "NP116#/config/k/default: 2.5 is above max 1");
  CHECK(option(R"({"type": "integer", "default": 1.5, "doc": "d"})") ==
        "NP116#/config/k/default: must be an integer, is 1.5");
  CHECK(option(R"({"type": "string", "default": "c", "enum": ["a", "b"], "doc": "d"})") ==
        "NP116#/config/k/default: 'c' is not one of a, b");
  CHECK(option(R"({"type": "array-of-string", "default": "c", "doc": "d"})") ==
        "NP116#/config/k/default: must be an array of strings, is a string");
}

TEST_CASE("NP117: large and deep files are refused before they are understood") {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  CHECK(problems("{\"a\": " + deep)
            .starts_with("NP117#/a/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0: is nested deeper than 16 levels"));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("novaphy_manifest_test_" + std::to_string(std::rand()));
  std::filesystem::create_directories(folder / "vbd");
  const std::filesystem::path path = folder / "vbd/vbd.novaplugin.json";
  std::ofstream(path) << manifest() << std::string(3 << 20, ' ');
  const ManifestFile file = read_manifest(path);
  std::filesystem::remove_all(folder);
  REQUIRE(file.problems.size() == 1);
  CHECK(file.problems[0].text == "is 3.0 MiB, the limit is 1 MiB");
}

TEST_CASE("all problems of one file are reported together") {
  CHECK(
      problems(
          R"({"schema": 1, "name": "vbd", "version": "1",
                "modules": [{"name": "V", "abi": "1.0", "library": "/l.so", "phase": "x"}],
                     "config": {"k": {"type": "integer", "default": 0, "min": 1, "doc": "d"}}, "wat": 0})") ==
      "NP113#/modules/0/library: '/l.so' leaves the plugin's folder\n"
      "NP109#/modules/0/name: 'V' must match [a-z][a-z0-9_]{1,31}\n"
      "NP112#/modules/0/phase: 'x' is not one of device, default, late\n"
      "NP111#/version: '1' is not a version; write 'MAJOR.MINOR.PATCH'\n"
      "NP105#/wat: unknown key\n"
      "NP116#/config/k/default: 0 is below min 1");
}

TEST_CASE("the JSON schema is made from the table that validates") {
  const nlohmann::json schema = nlohmann::json::parse(manifest_schema());
  for (const Field& field : manifest_fields()) {
    CHECK(schema["properties"].contains(field.key));
    CHECK(schema["properties"][field.key]["description"] == field.doc);
  }
  CHECK(schema["required"] == nlohmann::json{"schema", "name", "version", "modules"});
  CHECK(schema["properties"]["modules"]["items"]["required"] == nlohmann::json{"name"});
  CHECK(schema["properties"]["modules"]["items"]["properties"]["phase"]["enum"] ==
        nlohmann::json{"device", "default", "late"});
  CHECK(schema["additionalProperties"] == false);
}
