// SPDX-License-Identifier: Apache-2.0
// Loading: one broken plugin a failure, each by its whole line, and what works beside them.
#include <doctest/doctest.h>

#include "fixtures/plugins/greeting.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::kAll;
using test::kSearched;
using test::library_of;
using test::manifest_of;
using test::WithRuntime;

namespace {

/// Loads `name`; checks the sentence of the error, and the line of the report.
void check_failure(const std::string& name, const std::string& sentence, const std::string& verdict) {
  const WithRuntime runtime;
  CHECK(runtime.load(name) == "plugin '" + name + "' isn't loaded: " + sentence);
  CHECK(runtime.verdict(name) == verdict);
  CHECK(runtime.load("good") == "");  // nothing else is affected
}

/// A library that cannot be loaded: the same text in both.
void check_failed(const std::string& name, const std::string& code, const std::string& text) {
  check_failure(name, "failed: " + text,
                "failed | " + code + " " + manifest_of(name) + "#/modules/0: " + text);
}

}  // namespace

TEST_CASE("bad JSON (NP102)") {
  const std::string text = "not valid JSON at line 4, column 17: expected '}'; last read '0.1.'";
  check_failure("bad_json", "rejected: " + text, "rejected | NP102 " + manifest_of("bad_json") + ": " + text);
}

TEST_CASE("an unknown key (NP105)") {
  const std::string text = "unknown key; did you mean 'requires'?";
  check_failure("unknown_key", "rejected: #/modules/0/requirse: " + text,
                "rejected | NP105 " + manifest_of("unknown_key") + "#/modules/0/requirse: " + text);
}

TEST_CASE("a missing requirement (NP203)") {
  const std::string text = "requires 'not_there' >=0.1 <0.2, which was not found; " + kSearched;
  check_failure("missing_requirement", "blocked: " + text,
                "blocked | NP203 " + manifest_of("missing_requirement") + "#/modules/0: " + text);
}

TEST_CASE("a disabled requirement (NP206)") {
  const test::ScratchFolder folder;
  const std::string config =
      folder.write("novaphy.host.json", R"({"schema": 1, "disable": ["good"]})").string();
  RuntimeOptions options;
  options.config_file = config;
  const WithRuntime runtime(options);
  CHECK(runtime.load("needs_good") ==
        "plugin 'needs_good' isn't loaded: blocked: requires 'good', which is disabled by " + config +
            "#/disable/0");
  CHECK(runtime.load("good") == "plugin 'good' isn't loaded: disabled by " + config + "#/disable/0");
  CHECK(runtime.verdict("needs_good") == "blocked | NP206 " + manifest_of("needs_good") +
                                             "#/modules/0: requires 'good', which is disabled by " + config +
                                             "#/disable/0");
}

TEST_CASE("a missing library (NP301)") {
  check_failed("missing_library", "NP301",
               "library libnovaphy_missing_library.so not found; was the plugin built?");
}

TEST_CASE("a missing dependent library (NP302)") {
  check_failed("missing_dependency", "NP302",
               "cannot load " + library_of("missing_dependency") +
                   ": libfixture_gone.so: cannot open shared object file: No such file or directory; install "
                   "the package that has it");
}

TEST_CASE("an undefined symbol (NP302) is an error and not the end of the process") {
  check_failed("undefined_symbol", "NP302",
               "cannot load " + library_of("undefined_symbol") +
                   ": undefined symbol: function_of_another_sdk; built against another SDK, or a missing "
                   "link library");
}

TEST_CASE(
    "another ABI major (NP304) is refused from the manifest, and before any call when the manifest lies") {
  const std::string text = "built for plugin ABI 2, this runtime speaks 1";
  check_failure("other_abi", "rejected: " + text,
                "rejected | NP304 " + manifest_of("other_abi") + "#/modules/0: " + text);
  check_failed("lying_abi", "NP304", text);
}

TEST_CASE("no entry (NP303)") {
  check_failed(
      "no_entry", "NP303",
      library_of("no_entry") + " has no novaphy_plugin_entry; use NOVAPHY_PLUGIN(...) in one source file");
}

TEST_CASE("a wrong fingerprint (NP307) names only what differs") {
  check_failed("wrong_fingerprint", "NP307",
               "built with cxx11_abi=0, runtime has 1; rebuild with the SDK's flags");
}

TEST_CASE("the same name twice (NP210): the first loads, the second is shown") {
  RuntimeOptions options;
  options.paths = {kAll, test::kSecond};
  const WithRuntime runtime(options);
  CHECK(runtime.load("good") == "");
  const auto rows = runtime->info("good");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].state == PluginState::loaded);
  CHECK(rows[1].state == PluginState::skipped);
  CHECK(rows[1].problems[0].line() == "NP210 " + test::kSecond + "/good/good.novaplugin.json: shadowed by " +
                                          manifest_of("good") + ", found earlier");
}

TEST_CASE("a load that throws (NP310)") {
  check_failed("throws", "NP310", "load threw: the lookup table is empty");
  check_failed("throws_number", "NP310", "load threw an unknown exception");
}

TEST_CASE("interfaces that differ in their namespace alone (NP312) are told by their whole ids") {
  const test::ScratchFolder folder;
  folder.write("good/good.novaplugin.json",
               R"({"schema": 1, "name": "good", "version": "0.1.0", "modules": [{"name": "good",
                   "library": "lib.so", "abi": "1.0",
                   "provides": [{"interface": "acme.IGreeting/1", "name": "good", "summary": "says its name"}]}]})");
  std::filesystem::copy_file(library_of("good"), folder.path() / "good/lib.so");
  RuntimeOptions options;
  options.paths = {folder.str()};
  const WithRuntime runtime(options);
  CHECK(runtime.load("good") ==
        "plugin 'good' isn't loaded: failed: declares acme.IGreeting/1 'good' and did not publish it; it "
        "published test.IGreeting/1 'good' instead");
}

TEST_CASE("further refusals of libraries") {
  check_failed("small_descriptor", "NP305", "descriptor is 24 bytes, ABI 1.0 needs 56");
  check_failed(
      "wrong_name", "NP308",
      "library says 'plain' 0.2.0, manifest says 'wrong_name' 0.1.0; build and install both together");
  check_failed("returns_error", "NP309", "load failed: the table file is empty");
  check_failed("forgets_to_publish", "NP312",
               "declares IGreeting/1 'forgets_to_publish' and did not publish it");
  check_failed("publishes_more", "NP312",
               "published IGreeting/1 'more', which the manifest does not declare");
  check_failed("leaves_folder", "NP113",
               "'libnovaphy_leaves_folder.so' is a link to " + library_of("good") +
                   ", which leaves the plugin's folder");
  check_failure("newer_abi", "rejected: needs plugin ABI 1.9, this runtime has 1.0",
                "rejected | NP306 " + manifest_of("newer_abi") +
                    "#/modules/0: needs plugin ABI 1.9, this runtime has 1.0");
}

TEST_CASE("a machine that lacks something makes a plugin unavailable, which is no failure (NP311)") {
  const std::string text = "unavailable: no quantum accelerator in this machine";
  check_failure("unavailable", text,
                "unavailable | NP311 " + manifest_of("unavailable") + "#/modules/0: " + text);
}

TEST_CASE(
    "whoever requires a plugin that failed is blocked with its line (NP205), and a failure is not tried "
    "again") {
  const WithRuntime runtime;
  const std::string line = "requires 'throws', which failed: NP310 " + manifest_of("throws") +
                           "#/modules/0: load threw: the lookup table is empty";
  CHECK(runtime.load("needs_throws") == "plugin 'needs_throws' isn't loaded: blocked: " + line);
  CHECK(runtime.load("throws") ==
        "plugin 'throws' isn't loaded: failed: load threw: the lookup table is empty");
  CHECK(runtime->info("throws")[0].problems.size() == 1);
}

TEST_CASE("a plugin behind a symbolic link loads") {
  const WithRuntime runtime;
  CHECK(runtime.load("linked") == "");
  CHECK(static_cast<test::IGreeting*>(runtime->find("test.IGreeting/1", "linked"))->greet() ==
        "hello from linked");
}

TEST_CASE("a plugin in C loads") {
  const WithRuntime runtime;
  CHECK(runtime.load("plain_c") == "");
  CHECK(runtime.verdict("plain_c") == "loaded");
}

TEST_CASE(
    "all of them in one folder: the good ones load, each other one is listed with its path and the reason") {
  const WithRuntime runtime;
  std::vector<std::string> loaded;
  for (const ReportRow& row : runtime->report()) {
    if (!row.path.starts_with(std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/")) continue;
    if (runtime.load(row.plugin).empty()) loaded.push_back(row.plugin);
  }
  CHECK(loaded == std::vector<std::string>{"good", "linked", "needs_good", "plain_c", "tiny_demo"});
  int refused = 0;
  for (const ReportRow& row : runtime->report()) {
    if (row.state == PluginState::loaded || row.path.starts_with(test::kBesideRuntime)) continue;
    ++refused;
    CHECK_MESSAGE(row.path == manifest_of(row.plugin), row.plugin);
    CHECK_MESSAGE(!row.reason.empty(), row.plugin);
    REQUIRE(!row.problems.empty());
    CHECK(row.problems[0].path == row.path);
  }
  CHECK(refused == 22);
}

TEST_CASE("asking for a name that does not exist lists those that do and the folders searched") {
  const WithRuntime runtime;
  CHECK_THROWS_WITH_AS(
      runtime->find("test.IGreeting/1", "god"),
      ("no test.IGreeting/1 is named 'god'; did you mean 'good'? There are: "
       "forgets_to_publish, good, linked, lying_abi, "
       "missing_dependency, missing_library, missing_requirement, needs_good, newer_abi, "
       "no_entry, other_abi, throws, unavailable, "
       "undefined_symbol; refused: bad_json (NP102 not valid JSON at line 4, column 17: expected '}'; last "
       "read '0.1.'), unknown_key (NP105 #/modules/0/requirse: unknown key; did you mean "
       "'requires'?); " +
       kSearched)
          .c_str(),
      Error);
  CHECK(runtime.load("godd").starts_with(
      "no plugin or module is named 'godd'; did you mean 'good'? There are: bad_json, "));
  CHECK(runtime.load("godd").ends_with("; " + kSearched));
  CHECK_THROWS_WITH_AS(runtime->find("test.IGreeting/1", "throws"),
                       "no test.IGreeting/1 'throws': plugin 'throws' isn't loaded: failed: load threw: the "
                       "lookup table is empty",
                       Error);
}

TEST_CASE("a manifest that is named explicitly loads from a folder that is not searched") {
  RuntimeOptions options;
  options.paths = {"/nonexistent/plugins"};
  options.manifests = {manifest_of("good")};
  const WithRuntime runtime(options);
  CHECK(runtime.load("good") == "");
}
