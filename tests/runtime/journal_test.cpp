// SPDX-License-Identifier: Apache-2.0
// The journal of loads (NP313): who killed a process while it loaded is known at the next start, and nobody
// else is blamed.
#include "load/journal.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "loading_scene.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using namespace std::chrono_literals;
using test::fs::path;

using test::Scene;

namespace {

std::vector<std::string> journal_notes() {
  std::vector<std::string> out;
  for (const std::string& note : Runtime::instance().notes())
    if (note.starts_with("the journal")) out.push_back(note);
  return out;
}

}  // namespace

TEST_CASE("a plugin that killed a process is not loaded again, until it is forgiven (NP313)") {
  const Scene scene;
  const platform::ChildResult death = scene.run({"good", "crashes"});
  CHECK(death.signal == SIGSEGV);
  CHECK(death.output == "good: loaded\n");
  const auto guilty = scene.quarantined();
  REQUIRE(guilty.size() == 1);
  CHECK(guilty[0].module == "crashes");
  CHECK(guilty[0].library == scene.library("crashes"));
  const std::string text = "was loading when process " + std::to_string(guilty[0].process) + " died on " +
                           guilty[0].date +
                           "; run 'novaphy-host check crashes', then 'novaphy-host forgive crashes'";
  {
    RuntimeOptions options;
    options.paths = {scene.plugins};
    const test::WithRuntime runtime(options, scene.state);
    CHECK(runtime.load("crashes") == "plugin 'crashes' isn't loaded: failed: " + text);
    CHECK(runtime.verdict("crashes") ==
          "failed | NP313 " + scene.plugins + "/crashes/crashes.novaplugin.json#/modules/0: " + text);
    CHECK_FALSE(runtime->has("crashes"));
    CHECK(runtime.load("good") == "");
    CHECK(Runtime::quarantined().size() == 1);
    CHECK(Runtime::forgive("good") == 0);
    CHECK(Runtime::forgive("crashes") == 1);
    CHECK(Runtime::quarantined().empty());
  }
  CHECK(scene.run({"crashes"}).signal == SIGSEGV);  // it has another chance, and uses it
}

TEST_CASE("the date of a death is one of this day") {
  const Scene scene;
  scene.run({"exits"});
  const std::time_t now = std::time(nullptr);
  char today[16];
  std::strftime(today, sizeof today, "%Y-%m-%d", std::gmtime(&now));
  REQUIRE(scene.quarantined().size() == 1);
  CHECK(scene.quarantined()[0].date == today);
}

TEST_CASE("exit and a killed hang are deaths while loading too") {
  const Scene scene;
  CHECK(scene.run({"exits"}).exit_code == 1);
  CHECK(scene.run({"hangs"}, 300ms).timed_out);
  REQUIRE(scene.quarantined().size() == 2);
  CHECK(scene.quarantined()[0].module == "exits");
  CHECK(scene.quarantined()[1].module == "hangs");
  CHECK(scene.run({"exits", "hangs", "good"}).output.ends_with("good: loaded\n"));
}

TEST_CASE("a long session that is killed blames nobody") {
  const Scene scene;
  CHECK(scene.run({"good", "die"}).signal == SIGKILL);
  CHECK(scene.run({"good", "wait"}, 300ms).timed_out);
  CHECK(scene.quarantined().empty());
  CHECK(scene.entries() == 0);
}

TEST_CASE("another process that is just loading is not dead") {
  const Scene scene;
  std::thread loading([&] { scene.run({"hangs"}, 1s); });
  for (int i = 0; i < 100 && scene.entries() == 0; ++i) std::this_thread::sleep_for(20ms);
  CHECK(scene.entries() == 1);
  CHECK(scene.quarantined().empty());
  CHECK(scene.run({"report"}).output.find("hangs: ready") != std::string::npos);
  loading.join();
  CHECK(scene.quarantined().size() == 1);
}

TEST_CASE("a library that was built anew is forgiven by itself") {
  const Scene scene;
  scene.run({"crashes"});
  REQUIRE(scene.quarantined().size() == 1);
  const std::string library = scene.library("crashes"), before = library + ".before";
  test::fs::rename(library, before);
  CHECK(scene.quarantined().empty());  // gone, and perhaps only for a moment
  test::fs::rename(before, library);
  CHECK(scene.quarantined().size() == 1);
  test::fs::copy(library, before);  // the same bytes in another file
  test::fs::rename(before, library);
  CHECK(scene.quarantined().empty());
  CHECK(scene.entries() == 0);
}

TEST_CASE(
    "a number that another process has now, an earlier start of the machine and another machine are told "
    "apart") {
  const platform::ProcessIdentity self = platform::this_process();
  CHECK(self.start > 0);
  CHECK_FALSE(self.boot.empty());
  CHECK_FALSE(platform::has_ended(self));
  CHECK(platform::has_ended({self.id, self.start + 1, self.boot, self.machine}));
  CHECK(platform::has_ended({self.id, self.start, "an earlier start", self.machine}));
  CHECK_FALSE(platform::has_ended({self.id, self.start, "another kernel", "another machine"}));
}

TEST_CASE("files of the journal that are no entries are passed over") {
  const Scene scene;
  for (const std::string text : {"", "{", "[]", "7", "{\"process\": 3}", "{\"process\": {\"id\": \"x\"}}"})
    scene.folder.write("state/novaphy/loading/" + std::to_string(scene.entries()) + ".json", text);
  CHECK(scene.quarantined().empty());
  CHECK(scene.run({"good"}).output == "good: loaded\n");
  CHECK(forgive_loads(scene.journal(), "good") == 0);
}

TEST_CASE("without a place for the journal everything loads, and one note says so") {
  const test::ScratchFolder folder;
  folder.write("file", "no folder");
  const std::vector<std::string> places = {"/dev/full", "/proc/self", folder.str("file")};
  for (const std::string& state : places) {
    const test::WithRuntime runtime({}, state);
    CHECK(journal_notes().empty());
    CHECK(runtime.load("good") == "");
    CHECK(runtime.load("needs_good") == "");
    const std::vector<std::string> notes = journal_notes();
    REQUIRE(notes.size() == 1);
    CHECK(
        notes[0].starts_with("the journal of loads cannot be written: open " + state + "/novaphy/loading/"));
    CHECK(notes[0].ends_with(
        "; make its folder writable, or set XDG_STATE_HOME. Until then a plugin that kills "
        "the process is not known at the next start"));
  }
}

TEST_CASE("without a home nothing is written, everything loads, and one note says so") {
  const test::WithRuntime runtime({}, "relative");
  const test::WithoutEnvironment home("HOME");
  Runtime::shutdown();
  RuntimeOptions options;
  options.paths = {test::kAll};
  Runtime::start(options);
  CHECK(runtime.load("good") == "");
  CHECK(runtime.load("needs_good") == "");
  CHECK(journal_notes() == std::vector<std::string>{
                               "the journal of loads has no place: neither XDG_STATE_HOME nor HOME names a "
                               "folder; set one of them. "
                               "Until then a plugin that kills the process is not known at the next start"});
  CHECK(Runtime::quarantined().empty());
}

TEST_CASE("a runtime that is to keep no journal has no complaint") {
  RuntimeOptions options;
  options.journal = false;
  const test::WithRuntime runtime(options, "/dev/full");
  CHECK(runtime.load("good") == "");
  CHECK(journal_notes().empty());
}

TEST_CASE("a load within a load is the one in progress, and the outer one comes back") {
  const test::ScratchFolder folder;
  const path library = folder.write("lib.so", "");
  LoadJournal journal(folder.path() / "loading");
  const auto modules = [&] {
    std::vector<std::string> out;
    for (const auto& entry : test::fs::directory_iterator(folder.path() / "loading"))
      out.push_back(nlohmann::json::parse(std::ifstream(entry.path())).at("module"));
    return out;
  };
  journal.begin("outer", "outer", library);
  CHECK(modules() == std::vector<std::string>{"outer"});
  journal.begin("inner", "inner", library);
  CHECK(modules() == std::vector<std::string>{"inner"});
  journal.end();
  CHECK(modules() == std::vector<std::string>{"outer"});
  journal.end();
  CHECK(modules().empty());
}

TEST_CASE("many processes at once, some of them killed, blame only the guilty") {
  const Scene scene;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&scene, i] {
      for (int round = 0; round < 3; ++round)
        scene.run({"good", i == 0 ? "crashes" : "good", i % 2 == 0 ? "die" : "good"});
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(scene.quarantined().size() == 1);
  CHECK(scene.quarantined()[0].module == "crashes");
  CHECK(scene.entries() == 1);  // the second and third time it was not loaded
}

TEST_CASE("what comes with the runtime is not journalled") {
  const test::ScratchFolder state;
  const test::WithRuntime runtime({}, state.str());
  if (runtime->has("semi_implicit")) {
    CHECK(runtime.load("semi_implicit") == "");
    CHECK_FALSE(test::fs::exists(state.path() / "novaphy"));
  }
  CHECK(runtime.load("good") == "");
  CHECK(test::fs::exists(state.path() / "novaphy/loading"));
}

TEST_CASE("the journal costs a load less than 100 ms") {
  const test::ScratchFolder folder;
  const path library = folder.write("lib.so", "");
  LoadJournal journal(folder.path());
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    { const JournalEntry entry(journal, "plugin", "module", library); }
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  MESSAGE("best of 10: " << best << " ms");
  CHECK(best < 100.0);
}
