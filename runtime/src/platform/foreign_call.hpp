// SPDX-License-Identifier: Apache-2.0
// A call of foreign code from which the process may not come back: what is said and tidied up then.
#pragma once

#include <string>

namespace novaphy::platform {

/// The exit code of a process whose foreign code has called exit() in a ForeignCall.
inline constexpr int kEndedByForeignCode = 1;

/// While it lives,
///   - exit() on the thread that made it writes `on_exit` to stderr and ends the process with
///     kEndedByForeignCode, whatever exit() was given: half a call is no success;
///   - a crash of any thread writes `on_crash` to stderr before it takes its course;
///   - SIGINT, SIGTERM and SIGHUP remove the files of RemovedWhenInterrupted before they end the process, and
///     so does exit() on another thread.
/// A signal that the program handles or ignores itself is left alone, and a forked child is none of this.
/// Calls may nest: the inner one is in progress. Of all threads one at a time has calls.
class ForeignCall {
 public:
  ForeignCall(std::string on_exit, std::string on_crash);
  ~ForeignCall();
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

  const std::string& on_exit() const noexcept { return on_exit_; }

 private:
  std::string on_exit_, on_crash_;
  const ForeignCall* outer_;
};

/// A file that does not outlive a process which is interrupted in a ForeignCall. `path` stays valid
/// meanwhile. There are two at most at any time; a third one stays where it is.
class RemovedWhenInterrupted {
 public:
  explicit RemovedWhenInterrupted(const char* path);
  ~RemovedWhenInterrupted();
  RemovedWhenInterrupted(const RemovedWhenInterrupted&) = delete;
  RemovedWhenInterrupted& operator=(const RemovedWhenInterrupted&) = delete;

 private:
  const char* path_;
};

}  // namespace novaphy::platform
