// SPDX-License-Identifier: Apache-2.0
#include "platform/host/running_program.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "novaphy/error.hpp"

namespace novaphy::platform {
namespace {

volatile std::sig_atomic_t last_interrupt = 0;

void remember_interrupt(int number) {
  last_interrupt = number;
}

/// The program that starts shall end at SIGINT and SIGTERM, whatever this process does with them.
class DefaultSignals {
 public:
  DefaultSignals() {
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
  ~DefaultSignals() { posix_spawnattr_destroy(&attributes); }
  posix_spawnattr_t attributes;
};

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) : process_(-1) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const DefaultSignals signals;
  const int error = posix_spawn(&process_, argv[0], nullptr, &signals.attributes, argv.data(), environ);
  if (error != 0)
    fail(ErrorKind::generic, "cannot start ", arguments.front(), ": ",
         std::generic_category().message(error));
}

RunningProgram::~RunningProgram() {
  stop();
}

std::optional<int> RunningProgram::ended() {
  int status = 0;
  if (!code_ && waitpid(process_, &status, WNOHANG) == process_)
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return code_;
}

void RunningProgram::stop() {
  using namespace std::chrono_literals;
  const auto limit = std::chrono::steady_clock::now() + 2s;
  if (ended()) return;
  kill(process_, SIGTERM);
  while (!ended() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(10ms);
  if (ended()) return;
  kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
  code_ = 128 + SIGKILL;
}

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupted() {
  return last_interrupt;
}

}  // namespace novaphy::platform
