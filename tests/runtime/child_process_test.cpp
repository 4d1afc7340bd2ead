// SPDX-License-Identifier: Apache-2.0
// Child processes: every way in which one can end is told apart, and none of them holds up the parent.
#include "platform/child_process.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "scratch_folder.hpp"

using novaphy::platform::ChildCommand;
using novaphy::platform::ChildResult;
using novaphy::platform::run_child;
using namespace std::chrono_literals;

namespace {

ChildResult shell(const std::string& script, std::chrono::milliseconds limit = 10s) {
  return run_child({"/bin/sh", {"-c", script}, {{"GREETING", "good morning"}}, limit});
}

double seconds(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a child's last words are the last line of its stderr that says something, and not endless") {
  CHECK(shell("echo first >&2; echo '  second one ' >&2; echo >&2").last_words() == "second one");
  CHECK(shell("printf only >&2").last_words() == "only");
  CHECK(shell("echo out; printf ' \\n\\n' >&2").last_words() == "");
  CHECK(shell("printf '%0300d' 7 >&2").last_words() == std::string(200, '0') + "...");
}

TEST_CASE("a child's streams, environment and exit code come back") {
  const ChildResult result = shell("echo $GREETING; echo oops >&2; exit 7");
  CHECK(result.exit_code == 7);
  CHECK(result.output == "good morning\n");
  CHECK(result.errors == "oops\n");
  CHECK(result.signal == 0);
  CHECK_FALSE(result.completion);
  CHECK(result.ending() == "ended with exit code 7");
}

TEST_CASE("a child completes only by its channel: exit code 0 alone is no success") {
  const ChildResult done = shell("printf 'all well\\000' >/proc/self/fd/199");
  CHECK(done.exit_code == 0);
  CHECK(done.completion == "all well");
  CHECK(done.ending() == "ended with exit code 0");
  const ChildResult silent = shell("exit 0");
  CHECK_FALSE(silent.completion);
  CHECK(silent.ending() == "ended with exit code 0 before its work was done");
  CHECK_FALSE(shell("printf 'half an ans' >/proc/self/fd/199").completion);
}

TEST_CASE("a child that a signal ends is told by the signal's name") {
  const ChildResult result = shell("kill -SEGV $$");
  CHECK(result.signal == SIGSEGV);
  CHECK_FALSE(result.exit_code);
  CHECK(result.ending() == "was killed by SIGSEGV");
}

TEST_CASE("a child that hangs is killed at the limit, with what it started") {
  const test::ScratchFolder folder;
  ChildResult result;
  const double time = seconds([&] {
    result = shell("echo begun; (sleep 0.5; echo late >" + folder.str("late") + ") & sleep 60", 200ms);
  });
  CHECK(result.timed_out);
  CHECK(result.output == "begun\n");
  CHECK(result.ending() == "did not end within 0.2 s");
  CHECK(time < 5.0);
  std::this_thread::sleep_for(600ms);
  CHECK_FALSE(test::fs::exists(folder.path() / "late"));
}

TEST_CASE("a child that leaves a process of its own behind, with its streams open, has ended") {
  ChildResult result;
  const double time = seconds([&] { result = shell("sleep 60 & echo done"); });
  CHECK(result.exit_code == 0);
  CHECK(result.output == "done\n");
  CHECK(time < 5.0);
}

TEST_CASE("a child that writes without end is read and cut") {
  const ChildResult result = shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2");
  CHECK(result.exit_code == 0);
  CHECK(result.output.size() == novaphy::platform::kMaxChildOutput);
  CHECK(result.errors.size() == novaphy::platform::kMaxChildOutput);
}

TEST_CASE("a program that is not there is an error and no child") {
  const ChildResult result = run_child({"/nonexistent/program", {}, {}, 1s});
  CHECK(result.start_error == "No such file or directory");
  CHECK(result.ending() == "could not be started: No such file or directory");
}

TEST_CASE("children that several threads start at once do not hold each other's streams") {
  std::vector<std::thread> threads;
  std::vector<ChildResult> results(8);
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&results, i] {
      results[i] =
          shell(i == 0 ? "sleep 0.3" : "echo " + std::to_string(i) + "; printf 'ok\\000' >/proc/self/fd/199");
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 1; i < results.size(); ++i) {
    CHECK(results[i].output == std::to_string(i) + "\n");
    CHECK(results[i].completion == "ok");
  }
}

TEST_CASE("a child has the signals' defaults even where the parent ignores them") {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const ChildResult result = shell("kill -PIPE $$; echo survived");
  std::signal(SIGPIPE, before);
  CHECK(result.signal == SIGPIPE);
  CHECK(result.output == "");
}

TEST_CASE("a process that nobody waits for completes into nothing") {
  novaphy::platform::ChildSide side;
  CHECK_FALSE(side.has_parent());
  side.complete("nothing");
  const test::WithEnvironment wrong("NOVAPHY_CHILD_CHANNEL", "a stray value");
  novaphy::platform::ChildSide other;
  CHECK_FALSE(other.has_parent());
  CHECK(std::getenv("NOVAPHY_CHILD_CHANNEL") == nullptr);
}
