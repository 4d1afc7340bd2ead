// SPDX-License-Identifier: Apache-2.0
// A program that runs beside this one and shares its terminal, for run --watch.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace novaphy::platform {

/// Started by posix_spawn; ended by stop() or by itself. One thread.
class RunningProgram {
 public:
  /// `arguments[0]` is the path of the program. Throws Error when it cannot be started.
  explicit RunningProgram(const std::vector<std::string>& arguments);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// The exit code, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> ended();
  /// Asks it to end, and ends it when it has not done so after two seconds.
  void stop();

 private:
  int process_;
  std::optional<int> code_;
};

/// From here on SIGINT and SIGTERM no longer end this process; interrupted() tells their number, 0 before.
void watch_for_interrupts();
int interrupted();

}  // namespace novaphy::platform
