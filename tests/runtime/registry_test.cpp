// SPDX-License-Identifier: Apache-2.0
// The registry: lazy loading, lists without loading, options, shutdown.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "fixtures/plugins/greeting.hpp"
#include "novaphy/api.hpp"
#include "novaphy/task_pool.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

test::IGreeting& good() {
  return find<test::IGreeting>("good");
}

std::string failure(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a list answers from manifests and loads nothing") {
  const WithRuntime runtime;
  const auto items = list<test::IGreeting>();
  const auto it = std::find_if(items.begin(), items.end(),
                               [](const ProvidedInterface& item) { return item.name == "good"; });
  REQUIRE(it != items.end());
  CHECK(it->summary == "says its name");
  CHECK(it->can_load);
  const auto blocked = std::find_if(items.begin(), items.end(), [](const ProvidedInterface& item) {
    return item.name == "missing_requirement";
  });
  REQUIRE(blocked != items.end());
  CHECK_FALSE(blocked->can_load);
  CHECK(blocked->reason.starts_with(
      "plugin 'missing_requirement' isn't loaded: blocked: requires 'not_there'"));
  for (const ReportRow& row : runtime->report()) CHECK(row.state != PluginState::loaded);
}

TEST_CASE("the first find of something loads its module and what that requires") {
  const WithRuntime runtime;
  CHECK(runtime.verdict("good") == "ready");
  CHECK(find<test::IGreeting>("needs_good").greet() == "hello from hello from good friend");
  CHECK(runtime.verdict("good") == "loaded");
  CHECK(runtime.verdict("needs_good") == "loaded");
  CHECK(find_optional<test::IGreeting>("good") == &good());
  CHECK(find_optional<test::IGreeting>("nothing") == nullptr);
}

TEST_CASE("has never raises and loads nothing") {
  const WithRuntime runtime;
  CHECK(runtime->has("good"));
  CHECK_FALSE(runtime->has("missing_requirement"));
  CHECK_FALSE(runtime->has("missing_library"));
  CHECK_FALSE(runtime->has("bad_json"));
  CHECK_FALSE(runtime->has("no_such_thing"));
  CHECK(runtime.verdict("good") == "ready");
  CHECK(runtime->why_not("good") == "");
  CHECK(runtime->why_not("missing_library") ==
        "plugin 'missing_library' isn't loaded: failed: library libnovaphy_missing_library.so not found; was "
        "the plugin built?");
}

TEST_CASE("a module gets its plugin's options and folder") {
  RuntimeOptions options;
  options.config_json = R"({"good": {"loudness": 7}})";
  const WithRuntime runtime(options);
  CHECK(nlohmann::json::parse(good().config)["loudness"] == 7);
  CHECK(good().folder == test::kAll + "/good");
  CHECK(nlohmann::json::parse(runtime->config_json("good"))["loudness"] == 7);
}

TEST_CASE("wrong options of the host are an error of the first use") {
  CHECK(failure([] {
          RuntimeOptions options;
          options.config_json = R"({"good": {"loudness": 12}})";
          options.disable = {"goood"};
          options.source = "novaphy.plugins.configure";
          const WithRuntime runtime(options);
        }) ==
        "NP404 novaphy.plugins.configure: no plugin or module is named 'goood'; did you mean 'good'?\n"
        "NP406 novaphy.plugins.configure#/config/good/loudness: 12 is above max 11");
  Runtime::configure({});
  CHECK_FALSE(Runtime::started());
}

TEST_CASE("shutdown unloads in reverse order, and another runtime may start") {
  test::IGreeting* greeting = nullptr;
  int loads = 0, unloads = 0;
  {
    const WithRuntime runtime;
    greeting = &good();
    loads = greeting->loads;
    unloads = greeting->unloads;
  }
  CHECK(greeting->unloads == unloads + 1);  // the library is still mapped
  CHECK_FALSE(Runtime::started());
  const WithRuntime again;
  CHECK(&good() == greeting);
  CHECK(greeting->loads == loads + 1);
}

TEST_CASE("options cannot change after the plugins are planned") {
  const WithRuntime runtime;
  CHECK(failure([] { Runtime::configure({}); }) ==
        "the plugins are planned already; configure them before the first use");
}

TEST_CASE("a stopped runtime says so") {
  Runtime* stopped = nullptr;
  {
    const WithRuntime runtime;
    stopped = &Runtime::instance();
  }
  CHECK(failure([&] { stopped->find("test.IGreeting/1", "good"); }) ==
        "no test.IGreeting/1 'good': the runtime has stopped");
  CHECK(stopped->why_not("good") == "plugin 'good' isn't loaded: the runtime has stopped");
}

TEST_CASE("a required plugin of the host's list that does not load is NP407 with its own line") {
  RuntimeOptions options;
  options.enable = std::vector<std::string>{"good", "throws"};
  const WithRuntime runtime(options);
  CHECK(failure([] { Runtime::instance().require_listed(); }) ==
        "NP407 command line: required plugin 'throws' failed:\nNP310 " + test::manifest_of("throws") +
            "#/modules/0: load threw: the lookup table is empty");
  CHECK(runtime.verdict("good") == "loaded");
}

TEST_CASE("NP407 names the place in the configuration, also for a module whose manifest cannot be read") {
  const test::ScratchFolder folder;
  RuntimeOptions options;
  options.config_file =
      folder.write("h.json", R"({"plugins": ["good", {"name": "gone", "required": false}, "lost"]})")
          .string();
  const WithRuntime runtime(options);  // bad_json might hold 'lost'
  CHECK(failure([] { Runtime::instance().require_listed(); })
            .starts_with("NP407 " + options.config_file +
                         "#/plugins/2: required plugin 'lost' failed:\nno plugin or module is named 'lost'"));
}

TEST_CASE("asking for what an optional module provides tells the whole chain of reasons") {
  const test::ScratchFolder folder;
  const auto write = [&](const std::string& name, const std::string& needs) {
    folder.write_plugin(name);
    folder.write(name + "/" + name + ".novaplugin.json",
                 R"({"schema": 1, "name": ")" + name + R"(", "version": "0.1.0", "modules": [{"name": ")" +
                     name + R"(", "library": "lib.so", "abi": "1.0", "requires": {")" + needs +
                     R"(": "*"}, "provides": [{"interface": "test.IGreeting/1", "name": ")" + name +
                     R"("}], "python": {"module": "_x", "exports": {"novaphy.solvers": ["Solver_)" + name +
                     R"("]}}}]})");
  };
  write("on_device", "unavailable");  // a fixture: healthy, and this machine lacks something
  write("with_gradients", "on_device");
  RuntimeOptions options;
  options.paths = {test::kAll, folder.str()};
  const WithRuntime runtime(options);
  CHECK(runtime->has("with_gradients"));  // nobody knows yet
  const std::string reason =
      "plugin 'with_gradients' isn't loaded: blocked: requires 'on_device', which requires 'unavailable', "
      "which is "
      "unavailable: no quantum accelerator in this machine";
  CHECK(runtime.load("with_gradients") == reason);
  CHECK(failure([] { Runtime::instance().find("test.IGreeting/1", "with_gradients"); }) ==
        "no test.IGreeting/1 'with_gradients': " + reason);
  CHECK(runtime->why_not("with_gradients") == reason);
  for (const ProvidedInterface& item : runtime->list("test.IGreeting/1"))
    if (item.name == "with_gradients") CHECK(item.reason == reason);
  for (const PythonExport& item : runtime->python_exports())
    if (item.name == "Solver_with_gradients") CHECK(item.reason == reason);
  CHECK(runtime.load("good") == "");
}

TEST_CASE("a plugin that is not required may fail") {
  const test::ScratchFolder folder;
  RuntimeOptions options;
  options.config_file =
      folder.write("h.json", R"({"plugins": ["good", {"name": "throws", "required": false}]})").string();
  const WithRuntime runtime(options);
  CHECK(failure([] { Runtime::instance().require_listed(); }) == "");
  CHECK(runtime.verdict("throws").starts_with("failed | NP310 "));
}

TEST_CASE("many threads that ask at once get one object and one load") {
  const WithRuntime runtime;
  std::vector<test::IGreeting*> got(8, nullptr);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) threads.emplace_back([&got, i] { got[i] = &good(); });
  for (std::thread& thread : threads) thread.join();
  for (const test::IGreeting* greeting : got) CHECK(greeting == got[0]);
}

TEST_CASE("the runtime itself publishes the task pool") {
  const WithRuntime runtime;
  CHECK(&find<ITaskPool>("shared") == &task_pool());
}

TEST_CASE("discovery of all fixture plugins takes less than 5 ms") {
  { const WithRuntime warm; }
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const WithRuntime runtime;
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  MESSAGE("best of 20: " << best << " ms");
#ifdef NDEBUG
  CHECK(best < 5.0);
#endif
}

TEST_CASE("why tells the resolution step by step, with every place searched") {
  const WithRuntime runtime;
  std::vector<std::string> lines = runtime->why("missing_requirement");
  std::erase(lines, "note: its group may write the manifest");  // under umask 002
  CHECK(lines[0] ==
        "searched " + test::kAll + " (command line): holds " + test::manifest_of("missing_requirement"));
  CHECK(lines[1] == "searched /nonexistent/novaphy/plugins (user data): does not exist");
  CHECK(lines[2].starts_with("searched " + test::kBesideRuntime + " (beside the runtime): "));
  CHECK(lines[3] == "manifest " + test::manifest_of("missing_requirement") + ": valid, version 0.1.0");
  CHECK(lines[4] == "module missing_requirement requires 'not_there' >=0.1 <0.2: not found");
  CHECK(lines[5] == "module missing_requirement provides test.IGreeting/1 'missing_requirement'");
  CHECK(lines[6] == "NP203 " + test::manifest_of("missing_requirement") +
                        "#/modules/0: requires 'not_there' >=0.1 <0.2, which was not found; " +
                        test::kSearched);
  CHECK(lines[7] == "module missing_requirement: blocked");
}

TEST_CASE("a plugin's name where the name of what it provides is wanted is told so") {
  const WithRuntime runtime;
  const auto said = [](const char* interface_id, const char* name) {
    return failure([&] { Runtime::instance().find(interface_id, name); });
  };
  CHECK(said("novaphy.IDemo/1", "tiny_demo")
            .find("; 'tiny_demo' is a plugin's name, and that plugin provides halving; ") !=
        std::string::npos);
  CHECK(said("test.IGreeting/1", "tiny_demo")
            .find("; 'tiny_demo' is a plugin's name, and that plugin provides none; ") != std::string::npos);
  CHECK(said("novaphy.IDemo/1", "halvin").find("a plugin's name") == std::string::npos);
}
