// SPDX-License-Identifier: Apache-2.0
// A process that ends in the middle of a plugin's load or unload: an interrupt is no crash, exit() is no
// success, and who is at fault is said.
#include <doctest/doctest.h>

#include <csignal>

#include "loading_scene.hpp"

using novaphy::platform::ChildResult;
using test::Scene;

namespace {

std::string advice(const std::string& name, const std::string& what) {
  return "while module '" + name + "' of plugin '" + name + "' " + what + "; run 'novaphy-host check " +
         name + "'\n";
}

}  // namespace

TEST_CASE("a load that is interrupted is no crash: nobody is in quarantine afterwards") {
  const Scene scene;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const ChildResult result = scene.run({"signal=" + std::to_string(signal), "sleeps"});
    CHECK(result.signal == signal);
    CHECK(result.output == "");
    CHECK(result.errors == "");
    CHECK(scene.entries() == 0);
  }
  CHECK(scene.run({"sleeps"}).output == "sleeps: loaded\n");
}

TEST_CASE("a signal that the program handles or ignores itself is the program's: the load goes on") {
  const Scene scene;
  const std::string number = std::to_string(SIGTERM);
  const ChildResult result = scene.run({"handle=" + number, "signal=" + number, "sleeps", "good"});
  CHECK(result.exit_code == 0);
  CHECK(result.output == "handled\nsleeps: loaded\ngood: loaded\n");
}

TEST_CASE("after a load a signal does what it did before") {
  const Scene scene;
  CHECK(scene.run({"good", "signal=" + std::to_string(SIGTERM), "wait"}).signal == SIGTERM);
  CHECK(scene.entries() == 0);
}

TEST_CASE("exit in a plugin's load or unload ends the process with code 1, and the plugin is named") {
  const Scene scene;
  const std::string said = "novaphy: the process ends because exit() was called ";
  for (const std::string name : {"exits", "exits_when_opened"}) {
    const ChildResult result = scene.run({"good", name});
    CHECK(result.exit_code == 1);
    CHECK(result.output == "good: loaded\n");
    CHECK(result.errors == said + advice(name, "loaded"));
  }
  CHECK(scene.entries() == 2);
  const ChildResult late = scene.run({"exits_at_unload"});
  CHECK(late.exit_code == 1);
  CHECK(late.output == "exits_at_unload: loaded\n");
  CHECK(late.errors == said + advice("exits_at_unload", "unloaded"));
}

TEST_CASE("a crash in a plugin's load or unload names the plugin") {
  const Scene scene;
  const std::string said = "novaphy: the process crashed ";
  const ChildResult result = scene.run({"aborts"});
  CHECK(result.signal == SIGABRT);
  CHECK(result.errors == said + advice("aborts", "loaded"));
  const ChildResult late = scene.run({"good", "aborts_at_unload"});
  CHECK(late.signal == SIGABRT);
  CHECK(late.output == "good: loaded\naborts_at_unload: loaded\n");
  CHECK(late.errors == said + advice("aborts_at_unload", "unloaded"));
}

TEST_CASE("a child that a plugin forks while it loads may exit") {
  const Scene scene;
  const ChildResult result = scene.run({"forks"});
  CHECK(result.output == "forks: loaded\n");
  CHECK(result.errors == "");
  CHECK(result.exit_code == 0);
}

TEST_CASE("a program that ends on one thread while another one loads blames nobody") {
  const Scene scene;
  const ChildResult result = scene.run({"exit=3", "sleeps"});
  CHECK(result.exit_code == 3);
  CHECK(result.errors == "");
  CHECK(scene.entries() == 0);
}
