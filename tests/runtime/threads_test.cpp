// SPDX-License-Identifier: Apache-2.0
// Eight threads that look up, list, report and load at once: made for the thread sanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "fixtures/plugins/greeting.hpp"
#include "novaphy/api.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

const std::vector<std::string> kNames = {"good",   "needs_good",      "plain_c",     "linked",
                                         "throws", "missing_library", "unavailable", "no_such_plugin"};

void ask_everything(std::size_t first, std::atomic<int>& greetings) {
  Runtime& runtime = Runtime::instance();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string& name = kNames[(first + i) % kNames.size()];
    runtime.has(name);
    if (auto* greeting = find_optional<test::IGreeting>(name))
      if (greeting->greet().starts_with("hello from ")) ++greetings;
    list<test::IGreeting>();
    runtime.why_not(name);
    runtime.info(name);
    try {
      runtime.load(name);
    } catch (const Error&) {
    }
    if (i == first % 3) {
      runtime.report();
      runtime.why(name);
      runtime.notes();
      runtime.search_places();
      runtime.python_exports();
    }
  }
}

}  // namespace

TEST_CASE("eight threads look up, list, report and lazily load at once, and agree") {
  const int rounds = std::getenv("NOVAPHY_TEST_ALL") != nullptr ? 200 : 10;
  for (int round = 0; round < rounds; ++round) {
    const WithRuntime runtime;
    std::atomic<int> greetings{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 8; ++i)
      threads.emplace_back([i, &greetings] { ask_everything(i, greetings); });
    for (std::thread& thread : threads) thread.join();
    CHECK(greetings == 8 * 3);
    CHECK(runtime.verdict("needs_good") == "loaded");
    CHECK(runtime->info("throws")[0].problems.size() == 1);
  }
}

TEST_CASE("a module may wait in its load for a thread that finds what is loaded already") {
  RuntimeOptions options;
  options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/ill_mannered"};
  const WithRuntime runtime(options);
  CHECK(runtime.load("requires_nothing") == "");
  auto loading = std::async(std::launch::async, [&] { return runtime.load("waits_for_thread"); });
  const bool came_back = loading.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  CHECK(came_back);
  if (!came_back) std::abort();  // the thread would be joined for ever
  CHECK(loading.get() == "");
  CHECK(find<test::IGreeting>("waits_for_thread").config == "hello from requires_nothing");
}

TEST_CASE("a thread that keeps a runtime may ask it while it stops and after it has stopped") {
  std::atomic<Runtime*> kept{nullptr};
  std::atomic<bool> is_over{false};
  std::atomic<int> found{0};
  std::thread asker([&] {
    while (!is_over) {
      Runtime* runtime = kept;
      if (runtime == nullptr) continue;
      if (runtime->find_or_null("test.IGreeting/1", "good") != nullptr) ++found;
      runtime->has("needs_good");
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 10; ++i) {
    const WithRuntime runtime;
    kept = &Runtime::instance();
    const int before = found;
    for (int wait = 0; wait < 2000 && found == before; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  is_over = true;
  asker.join();
  CHECK(found >= 10);
}
