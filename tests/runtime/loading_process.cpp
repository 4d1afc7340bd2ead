// SPDX-License-Identifier: Apache-2.0
// A process for tests in which one may die: loads plugins, and waits or dies where it is told to.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "novaphy/log.hpp"
#include "novaphy/runtime.hpp"

using namespace novaphy;

/// Starts a runtime where a second copy of its library is loaded; prints why not.
static int start_beside(const char* library, const RuntimeOptions& options) {
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) std::puts(dlerror());
  try {
    Runtime::start(options);
  } catch (const Error& error) {
    std::puts(error.what());
    return 1;
  }
  return 0;
}

/// In the middle of a load, which takes longer.
template <class Action>
static void soon(Action action) {
  std::thread([action] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    action();
  }).detach();
}

/// What a word does that begins so; false for another one.
static bool act(const std::string& word) {
  const auto number = [&word] { return std::atoi(word.c_str() + word.find('=') + 1); };
  if (word.starts_with("signal="))
    soon([signal = number()] { kill(getpid(), signal); });
  else if (word.starts_with("handle="))
    signal(number(), [](int) { [[maybe_unused]] const ssize_t n = write(STDOUT_FILENO, "handled\n", 8); });
  else if (word.starts_with("exit="))
    soon([code = number()] { std::exit(code); });
  else
    return false;
  return true;
}

/// loading_process FOLDER NAME...: loads these of the plugins in FOLDER and prints what became of each.
/// "wait" waits for ever, "die" ends the process by SIGKILL, "report" prints the states of all.
/// "signal=NUMBER" sends itself a signal soon, "handle=NUMBER" handles one, "exit=CODE" ends it on another
/// thread soon, "notes" prints the notes. "open=LIBRARY" as the only word opens it and starts a runtime.
int main(int argc, char** argv) {
  RuntimeOptions options;
  options.paths = {argv[1]};
  set_log_level(LogLevel::off);
  if (argc > 2 && std::string(argv[2]).starts_with("open="))
    return start_beside(argv[2] + std::strlen("open="), options);
  Runtime& runtime = Runtime::start(options);
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "wait") {
      std::puts("waiting");
      std::fflush(stdout);
      pause();
    } else if (name == "die") {
      raise(SIGKILL);
    } else if (act(name)) {
      continue;
    } else if (name == "notes") {
      for (const std::string& note : runtime.notes()) std::printf("note: %s\n", note.c_str());
    } else if (name == "report") {
      for (const ReportRow& row : runtime.report())
        if (row.path.starts_with(argv[1])) std::printf("%s: %s\n", row.plugin.c_str(), to_string(row.state));
    } else {
      try {
        runtime.load(name);
        std::printf("%s: loaded\n", name.c_str());
      } catch (const Error& error) {
        std::printf("%s\n", error.what());
      }
    }
    std::fflush(stdout);
  }
  Runtime::shutdown();
  return 0;
}
