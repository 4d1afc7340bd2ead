// SPDX-License-Identifier: Apache-2.0
// Files that say what a process is in the middle of: they survive its death, and tell whether it died.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/foreign_call.hpp"

namespace novaphy::platform {

/// A process, told apart from a later one that gets the same number.
struct ProcessIdentity {
  long id = 0;
  unsigned long long start = 0;  ///< in clock ticks since the machine started
  std::string boot;              ///< of the running kernel; another one after each start of the machine
  std::string machine;           ///< its name in the network
};
ProcessIdentity this_process();
/// Whether it has surely ended. False for one that runs, and for one of another machine.
bool has_ended(const ProcessIdentity& process);

/// A text that changes when a file is replaced or written; empty when there is none.
std::string file_stamp(const std::filesystem::path& path);

/// A file that lies on the disk, and is locked, as long as this object lives. It goes when the process is
/// interrupted in a ForeignCall, and stays when it dies.
class JournalFile {
 public:
  /// Makes the file, and the folders above it; returns when it would survive a crash of the machine. Throws
  /// std::system_error.
  JournalFile(std::filesystem::path path, const std::string& text);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

 private:
  std::filesystem::path path_;
  RemovedWhenInterrupted removed_when_interrupted_;  // from before it lies there until it does no more
  int file_ = -1;
};

/// The text of a journal file that no process holds any more; nullopt for one that is held or cannot be read.
std::optional<std::string> read_abandoned(const std::filesystem::path& path);

}  // namespace novaphy::platform
