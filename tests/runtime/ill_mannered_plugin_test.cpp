// SPDX-License-Identifier: Apache-2.0
// Plugins that are well made and behave badly: they ask at the wrong time and answer with noise.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <thread>
#include <vector>

#include "fixtures/plugins/greeting.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;
namespace fs = std::filesystem;

namespace {

const std::string kIllMannered = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/ill_mannered";

RuntimeOptions ill_mannered() {
  RuntimeOptions options;
  options.paths = {kIllMannered};
  return options;
}

test::IGreeting& greeting(const std::string& name) {
  return find<test::IGreeting>(name);
}

}  // namespace

TEST_CASE("a module that asks for itself while it loads is told to wait") {
  const WithRuntime runtime(ill_mannered());
  CHECK(runtime.load("asks_itself") ==
        "plugin 'asks_itself' isn't loaded: failed: load threw: no test.IGreeting/1 'asks_itself': plugin "
        "'asks_itself' isn't loaded: its load has not returned yet; ask for it afterwards");
}

TEST_CASE("a module that asks for its dependant while it loads is told to wait") {
  const WithRuntime runtime(ill_mannered());
  CHECK(
      runtime.load("asks_dependant") ==
      "plugin 'asks_dependant' isn't loaded: failed: load threw: no test.IGreeting/1 'requires_asker': "
      "plugin "
      "'requires_asker' isn't loaded: it requires 'asks_dependant', whose load has not returned yet; ask for "
      "it afterwards");
  CHECK(runtime.verdict("requires_asker").starts_with("blocked | NP205 "));
}

TEST_CASE("a module whose optional one asks for it loads once") {
  const WithRuntime runtime(ill_mannered());
  CHECK(greeting("likes_asker").greet() == "hello from likes_asker");
  CHECK(greeting("likes_asker").loads == 1);
  CHECK(greeting("asks_back").config == "hello from likes_asker");
  CHECK(runtime.verdict("asks_back") == "loaded");
}

TEST_CASE("a module that unloads finds what is still loaded, and nothing loads any more") {
  test::IGreeting* last = nullptr;
  {
    const WithRuntime runtime(ill_mannered());
    last = &greeting("asks_at_unload");
  }
  CHECK(last->config == "hello from requires_nothing, none");
}

TEST_CASE("an error without end, with control characters and stray bytes, is one line of text") {
  const WithRuntime runtime(ill_mannered());
  const std::string text = runtime.load("noisy_error");
  CHECK(text.starts_with(
      "plugin 'noisy_error' isn't loaded: failed: load failed: two\\nlines, \\u001b[31m red, a "
      "byte \xef\xbf\xbd and xxx"));
  CHECK(text.ends_with("xxx"));
  CHECK(text.size() < 2200);
}

TEST_CASE("wrong calls of the runtime are answered with what to do") {
  const WithRuntime runtime(ill_mannered());
  const std::string null = "publish was called with null; give an interface id, a name and an object | ";
  CHECK(runtime.load("wrong_calls") == "plugin 'wrong_calls' isn't loaded: failed: load failed: " + null +
                                           null + null +
                                           "publish was called twice for test.IGreeting/1 'wrong_calls'; "
                                           "publish it once | find was called with "
                                           "null; give an interface id and a name");
  CHECK_FALSE(find_optional<test::IGreeting>("wrong_calls"));
}

TEST_CASE("threads that load different plugins at once, with unload and load again, agree") {
  for (int round = 0; round < 5; ++round) {
    const WithRuntime runtime(ill_mannered());
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([i] {
        for (const char* name :
             {"likes_asker", "asks_back", "asks_itself", "requires_nothing", "requires_asker"})
          (i % 2 == 0 ? Runtime::instance().find_or_null("test.IGreeting/1", name) : nullptr);
        Runtime::instance().report();
        Runtime::instance().has("asks_back");
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(runtime.verdict("likes_asker") == "loaded");
    CHECK(runtime.verdict("asks_back") == "loaded");
    CHECK(runtime.verdict("requires_nothing") == "loaded");
    CHECK(runtime->info("asks_itself")[0].problems.size() == 1);
  }
}

TEST_CASE("a library that is no file is refused and not waited for (NP301)") {
  const test::ScratchFolder folder;
  folder.write_plugin("pipe");
  fs::remove(folder.path() / "pipe/lib.so");
  REQUIRE(mkfifo((folder.path() / "pipe/lib.so").c_str(), 0600) == 0);
  folder.write_plugin("nested");
  fs::remove(folder.path() / "nested/lib.so");
  fs::create_directory(folder.path() / "nested/lib.so");
  RuntimeOptions options;
  options.paths = {folder.str()};
  const WithRuntime runtime(options);
  for (const std::string name : {"pipe", "nested"})
    CHECK(runtime.load(name) == "plugin '" + name +
                                    "' isn't loaded: failed: library lib.so is not a regular file; was the "
                                    "plugin built?");
}

TEST_CASE("a stopped runtime answers every question") {
  RuntimeOptions options = ill_mannered();
  options.enable = std::vector<std::string>{"likes_asker"};
  Runtime* stopped = nullptr;
  {
    const WithRuntime runtime(options);
    stopped = &Runtime::instance();
    stopped->load("likes_asker");
  }
  CHECK_THROWS_WITH_AS(
      stopped->require_listed(),
      "NP407 command line: required plugin 'likes_asker' failed:\nplugin 'likes_asker' isn't "
      "loaded: the runtime has stopped",
      Error);
  CHECK_THROWS_WITH_AS(stopped->load("likes_asker"),
                       "plugin 'likes_asker' isn't loaded: the runtime has stopped", Error);
  CHECK_FALSE(stopped->has("likes_asker"));
  CHECK(stopped->report().size() >= 10);
}

TEST_CASE("a folder with spaces, quotes and letters of other alphabets works") {
  const test::ScratchFolder folder;
  const fs::path place = folder.path() / "a b'c\"d \xc3\xa4 \xe6\xbc\xa2";
  fs::create_directories(place);
  fs::copy(kIllMannered + "/requires_nothing", place / "requires_nothing", fs::copy_options::recursive);
  RuntimeOptions options;
  options.paths = {place.string()};
  const WithRuntime runtime(options);
  CHECK(runtime.load("requires_nothing") == "");
  CHECK(runtime->info("requires_nothing")[0].library ==
        (place / "requires_nothing/libnovaphy_requires_nothing.so").string());
}
