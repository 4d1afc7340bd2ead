// SPDX-License-Identifier: Apache-2.0
// Probing (NP316): what ends or holds up a process does so in a child, is told by one sentence, and the rest
// goes on.
#include <doctest/doctest.h>

#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

RuntimeOptions probing(double limit = 20) {
  RuntimeOptions options;
  options.paths = {test::kDeadly, test::kAll};
  options.probe = true;
  options.probe_limit = limit;
  return options;
}

/// Loads `name` under probing: the sentence, and a good plugin beside it still loads.
void check_probe(const std::string& name, const std::string& ending, double limit = 20) {
  const WithRuntime runtime(probing(limit));
  const std::string text = "a child process that loaded it first " + ending +
                           ", so it is not loaded here; run 'novaphy-host check " + name + "'";
  CHECK(runtime.load(name) == "plugin '" + name + "' isn't loaded: failed: " + text);
  CHECK(runtime.verdict(name) ==
        "failed | NP316 " + test::kDeadly + "/" + name + "/" + name + ".novaplugin.json#/modules/0: " + text);
  CHECK(runtime.load("good") == "");
}

}  // namespace

TEST_CASE("a plugin that crashes is told by the signal (NP316)") {
  check_probe("crashes", "was killed by SIGSEGV");
  check_probe("crashes_when_opened", "was killed by SIGSEGV");
}

TEST_CASE("a static constructor that throws is told with its last words (NP316)") {
  check_probe("throws_when_opened", "was killed by SIGABRT ('what():  no table')");
}

TEST_CASE("a plugin that exits is told by the code, and 0 is no success (NP316)") {
#ifndef __SANITIZE_THREAD__  // it ends a process that exits within dlopen with a code of its own
  check_probe("exits_when_opened", "ended with exit code 7");
#endif
  check_probe("exits", "ended with exit code 0 before its work was done");
}

TEST_CASE("a plugin that hangs is told by the limit (NP316)") {
  check_probe("hangs", "did not end within 0.5 s", 0.5);
  check_probe("hangs_when_opened", "did not end within 0.5 s", 0.5);
}

TEST_CASE("what the child reports in order is reported here with its own code") {
  const WithRuntime runtime(probing());
  CHECK(runtime.load("throws") ==
        "plugin 'throws' isn't loaded: failed: load threw: the lookup table is empty");
  CHECK(runtime.verdict("throws").starts_with("failed | NP310 "));
  CHECK(runtime.load("needs_good") == "");
  CHECK(runtime.load("unavailable").ends_with("unavailable: no quantum accelerator in this machine"));
}

TEST_CASE("what comes with the runtime is not probed") {
  const WithRuntime runtime(probing(0));  // no child could be that fast
  if (runtime->has("semi_implicit")) CHECK(runtime.load("semi_implicit") == "");
}

TEST_CASE("the child makes the same plan: explicit manifests, folders and options") {
  RuntimeOptions options = probing();
  options.paths = {"/nonexistent/plugins"};
  options.manifests = {test::manifest_of("good")};
  options.config_json = R"({"good": {"loudness": 7}})";
  const WithRuntime runtime(options);
  CHECK(runtime.load("good") == "");
}

TEST_CASE("without lazy loading everything that can load is loaded at the start") {
  RuntimeOptions options;
  options.no_lazy = true;
  options.paths = {test::kAll};
  const WithRuntime runtime(options);
  for (const char* name : {"good", "needs_good", "plain_c", "linked"})
    CHECK(runtime.verdict(name) == "loaded");
  CHECK(runtime.verdict("throws").starts_with("failed | NP310 "));
  CHECK(runtime.verdict("unavailable").starts_with("unavailable | NP311 "));
  for (const ReportRow& row : runtime->report()) CHECK_MESSAGE(row.state != PluginState::ready, row.plugin);
}
