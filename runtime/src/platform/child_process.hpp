// SPDX-License-Identifier: Apache-2.0
// Child processes: what may crash, exit or hang runs in one, and the parent learns which of them it did.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace novaphy::platform {

/// What runs, and for how long at most.
struct ChildCommand {
  std::filesystem::path program;                                 ///< absolute; PATH is not searched
  std::vector<std::string> arguments;                            ///< without the program's own name
  std::vector<std::pair<std::string, std::string>> environment;  ///< set above this process's own
  std::chrono::milliseconds limit{10'000};
};

/// How it ended.
struct ChildResult {
  std::string start_error;  ///< why it could not be started ("No such file or directory"); else empty
  std::optional<int> exit_code;
  int signal = 0;          ///< the signal that ended it; 0 when none did
  bool timed_out = false;  ///< it was killed at the limit, with all that it had started
  /// What it handed back through ChildSide::complete(); nullopt when it ended without, as after exit(0) of a
  /// plugin.
  std::optional<std::string> completion;
  std::chrono::milliseconds limit{0};
  std::string output, errors;  ///< its stdout and stderr, at most kMaxChildOutput bytes of each

  /// "ended with exit code 7", "was killed by SIGSEGV", "did not end within 10 s", or "ended with exit code 0
  /// before its work was done" when there is no completion.
  std::string ending() const;
  /// The last line of its stderr, at most 200 bytes of it; empty when it said nothing.
  std::string last_words() const;
};

inline constexpr std::size_t kMaxChildOutput = 1 << 20;

/// Runs the program to its end and returns how it ended; never throws for what the program does. Its stdin is
/// empty, its signals have their defaults, it inherits no file of ours that is closed on exec. Any thread.
ChildResult run_child(const ChildCommand& command);

/// The child's view of run_child(). Made at the beginning of main(), so that what runs later neither sees the
/// channel nor hands it to children of its own.
class ChildSide {
 public:
  ChildSide();
  ~ChildSide();
  ChildSide(const ChildSide&) = delete;
  ChildSide& operator=(const ChildSide&) = delete;

  /// Whether run_child() started this process.
  bool has_parent() const noexcept { return channel_ >= 0; }
  /// Says that the work is done, with what came of it (text without NUL bytes). Only the first call counts.
  void complete(std::string_view text) noexcept;

 private:
  int channel_ = -1;
};

/// "SIGSEGV"; "signal 64" for one without a name.
std::string signal_name(int signal);

}  // namespace novaphy::platform
