// SPDX-License-Identifier: Apache-2.0
// The end of a runtime: what outlives its plugin is named and stays usable, threads are joined, and nothing
// grows with the number of runtimes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "fixtures/plugins/maker.hpp"
#include "novaphy/api.hpp"
#include "support/resident_memory.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;
namespace fs = std::filesystem;

namespace {

RuntimeOptions over(const std::string& folder) {
  RuntimeOptions options;
  options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/" + folder};
  return options;
}

/// The lines of the log while it lives, "level: text".
class LogLines {
 public:
  explicit LogLines(LogLevel level) {
    set_log_level(level);
    set_log_sink(
        [](void* context, LogLevel line_level, const char* line) {
          static_cast<LogLines*>(context)->lines.push_back(
              std::string(line_level == LogLevel::warn ? "warn: " : "info: ") + line);
        },
        this);
  }
  ~LogLines() {
    set_log_sink(nullptr, nullptr);
    set_log_level(LogLevel::warn);
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> with(const std::string& part) const {
    std::vector<std::string> out;
    for (const std::string& line : lines)
      if (line.find(part) != std::string::npos) out.push_back(line);
    return out;
  }
  std::vector<std::string> lines;
};

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// The thread sanitizer starts a thread of its own with a program's first one; it is none that a plugin left.
void let_the_sanitizer_start_its_thread() { std::thread([] {}).join(); }

}  // namespace

TEST_CASE(
    "objects that outlive their plugin are named by plugin and count in one line, and are not destroyed") {
  std::unique_ptr<test::IMade> first, second;
  std::vector<std::string> named;
  {
    const auto runtime = std::make_unique<WithRuntime>(over("ill_mannered"));
    first = find<test::IMaker>("makes_objects").make();
    second = find<test::IMaker>("makes_objects").make();
    find<test::IMaker>("makes_objects").make();  // dies in time
    CHECK(first->of_another() == "hello from requires_nothing");
    const LogLines log(LogLevel::info);
    Runtime::shutdown();
    named = log.with("outlive");
  }
  CHECK(named == std::vector<std::string>{
                     "info: objects outlive their plugins: 2 objects of plugin 'makes_objects'; they "
                     "are not destroyed, their code stays in memory, and using them finds no other "
                     "plugin"});
  CHECK(first->own() == "made");
  CHECK_THROWS_WITH_AS(first->of_another(),
                       "no test.IGreeting/1 'requires_nothing': module 'makes_objects' has stopped", Error);
  first.reset();
  // the next runtime loads the module again, and what the earlier one left works with it
  const WithRuntime again(over("ill_mannered"));
  CHECK_THROWS_AS(second->of_another(), Error);
  CHECK(again.load("makes_objects") == "");
  CHECK(second->of_another() == "hello from requires_nothing");
}

TEST_CASE("a shutdown that leaves nothing says nothing") {
  let_the_sanitizer_start_its_thread();
  const LogLines log(LogLevel::info);
  {
    const WithRuntime runtime(over("ill_mannered"));
    set_log_level(LogLevel::info);
    find<test::IMaker>("makes_objects").make();
    CHECK(runtime.load("joins_thread") == "");
  }
  CHECK(log.with("outlive").empty());
  CHECK(log.with("leaves").empty());
}

TEST_CASE("a plugin that leaves a thread is named, whether it began in load or when the library was opened") {
  let_the_sanitizer_start_its_thread();
  for (const std::string name : {"starts_thread", "starts_thread_when_opened"}) {
    const LogLines log(LogLevel::warn);
    {
      const WithRuntime runtime(over("deadly"));
      set_log_level(LogLevel::warn);
      CHECK(runtime.load(name) == "");
    }
    CHECK(log.with("leaves") ==
          std::vector<std::string>{"warn: module '" + name +
                                   "' leaves 1 thread running that began while it loaded; join them "
                                   "in its unload"});
  }
}

TEST_CASE("a runtime that has stopped long ago still answers") {
  Runtime* old = nullptr;
  for (int i = 0; i < 3; ++i) {
    const WithRuntime runtime;
    if (old == nullptr) old = &Runtime::instance();
    CHECK(runtime.load("good") == "");
  }
  CHECK(old->report().empty());
  CHECK_FALSE(old->has("good"));
  CHECK_THROWS_WITH_AS(old->load("good"), "no plugin or module is named 'good': the runtime has stopped",
                       Error);
  CHECK_THROWS_WITH_AS(old->find("test.IGreeting/1", "good"),
                       "no test.IGreeting/1 'good': the runtime has stopped", Error);
  CHECK(old->search_places().empty());
  CHECK(old->why_not("good") == "no plugin or module is named 'good': the runtime has stopped");
}

TEST_CASE("starting and stopping many times leaves no memory, no file and no thread behind") {
  const int cycles = std::getenv("NOVAPHY_TEST_ALL") != nullptr ? 1000 : 150;
  const auto cycle = [] {
    const WithRuntime runtime;
    for (const char* name : {"needs_good", "plain_c", "throws", "missing_library", "unavailable"})
      runtime.load(name);
    find<test::IGreeting>("needs_good").greet();
    runtime->report();
  };
  for (int i = 0; i < 50; ++i) cycle();
  const double memory = test::resident_mb();
  const std::size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  for (int i = 50; i < cycles; ++i) cycle();
  MESSAGE(cycles << " cycles grew resident memory by " << test::resident_mb() - memory << " MB");
  CHECK(entries("/proc/self/fd") == files);
  CHECK(entries("/proc/self/task") == threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what was freed
  CHECK(test::resident_mb() - memory < 0.004 * (cycles - 50));  // a stopped runtime keeps its handle
#endif
}
