// SPDX-License-Identifier: Apache-2.0
#include "platform/foreign_call.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace novaphy::platform {
namespace {

// SIGQUIT is not among them: who sends it wants to see where the process was
constexpr std::array kInterrupts = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// What signal handlers read; never destroyed, as exit() runs on after static objects have gone.
struct State {
  std::atomic<pid_t> process{0};  ///< whose calls these are: a forked child has a copy
  std::atomic<pthread_t> thread{};
  std::atomic<const ForeignCall*> call{nullptr};  ///< the inner one; its thread's own
  std::atomic<const char*> on_crash{nullptr};
  std::array<std::atomic<const char*>, 2> files{};
  std::atomic<bool> is_ending{false};  ///< a handler reads the texts, and the process ends afterwards
  std::mutex files_mutex;              ///< for threads; a handler takes no lock
};
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);
constinit State state;

void remove_files() {
  for (const auto& file : state.files)
    if (const char* path = file.load()) unlink(path);
}

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

/// What a handler has read must not be freed before the process is gone.
void wait_where_the_process_ends() {
  while (state.is_ending.load()) pause();
}

bool is_interrupt(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

// only what POSIX allows in a handler from here on
extern "C" void novaphy_on_signal(int signal) {
  if (state.process.load() == getpid()) {
    state.is_ending.store(true);
    if (is_interrupt(signal))
      remove_files();
    else if (const char* text = state.on_crash.load())
      write_text(text);
  }
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);  // blocked here, so it comes at the handler's return
}

extern "C" void novaphy_at_exit() {
  if (state.process.load() != getpid()) return;
  const ForeignCall* call = state.call.load();
  if (call == nullptr) return;
  if (pthread_equal(state.thread.load(), pthread_self()) ==
      0) {  // the program ends while another thread is in the call
    const std::lock_guard lock(state.files_mutex);
    remove_files();
    return;
  }
  std::fflush(nullptr);
  write_text(call->on_exit().c_str());
  _exit(kEndedByForeignCode);
}

/// Where nobody has: a program's own handler stays, and so does what it ignores.
void handle(int signal) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      before.sa_handler != SIG_DFL)
    return;
  struct sigaction ours {};
  ours.sa_handler = &novaphy_on_signal;
  ours.sa_flags = SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(signal, &ours, nullptr);
}

void release(int signal) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != &novaphy_on_signal)
    return;  // foreign code has its own by now
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
}

}  // namespace

ForeignCall::ForeignCall(std::string on_exit, std::string on_crash)
    : on_exit_(std::move(on_exit)), on_crash_(std::move(on_crash)), outer_(state.call.load()) {
  static const int registered = std::atexit(&novaphy_at_exit);
  static_cast<void>(registered);
  state.process.store(getpid());
  state.thread.store(pthread_self());
  state.on_crash.store(on_crash_.c_str());
  state.call.store(this);
  if (outer_ != nullptr) return;
  for (const int signal : kCrashes) handle(signal);
  // the first process of a container ignores what it does not handle, and would go on after ours
  if (getpid() != 1)
    for (const int signal : kInterrupts) handle(signal);
}

ForeignCall::~ForeignCall() {
  if (outer_ == nullptr) {
    for (const int signal : kCrashes) release(signal);
    for (const int signal : kInterrupts) release(signal);
  }
  state.on_crash.store(outer_ == nullptr ? nullptr : outer_->on_crash_.c_str());
  state.call.store(outer_);
  wait_where_the_process_ends();
}

RemovedWhenInterrupted::RemovedWhenInterrupted(const char* path) : path_(path) {
  const std::lock_guard lock(state.files_mutex);
  for (auto& file : state.files) {
    const char* free = nullptr;
    if (file.compare_exchange_strong(free, path)) return;
  }
}

RemovedWhenInterrupted::~RemovedWhenInterrupted() {
  const std::lock_guard lock(state.files_mutex);
  for (auto& file : state.files) {
    const char* own = path_;
    file.compare_exchange_strong(own, nullptr);
  }
  wait_where_the_process_ends();
}

}  // namespace novaphy::platform
