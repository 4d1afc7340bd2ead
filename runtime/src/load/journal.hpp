// SPDX-License-Identifier: Apache-2.0
// The journal of loads: a plugin that kills the process while it loads is known at the next start.
//
// Around each single load of a library that did not come with the runtime lies a file in
// ${XDG_STATE_HOME:-~/.local/state}/novaphy/loading. A file whose process has ended tells that the process
// died during that load. The plugin is the likeliest cause and not the only one: another thread, one that an
// earlier plugin started for instance, or SIGKILL from outside may have ended the process meanwhile. An
// interrupt (SIGINT, SIGTERM, SIGHUP) takes the file with it. Each process has files of its own, so that any
// number of them work at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/runtime.hpp"
#include "platform/journal_file.hpp"

namespace novaphy {

/// The folder of the journal; empty when the user has none.
std::filesystem::path journal_folder();

/// The loads in which a process died and whose library is still the same file, by module. Forgets those whose
/// library was built anew since.
std::vector<QuarantinedModule> unfinished_loads(const std::filesystem::path& folder);

/// Forgets those of a plugin or module; returns how many there were. Throws Error when a file cannot be
/// removed.
std::size_t forgive_loads(const std::filesystem::path& folder, std::string_view name);

/// "was loading when process 4711 died on 2026-11-30; run ...".
std::string quarantine_text(const QuarantinedModule& module);

/// The loads of this process that have begun. A load within a load stands for both: the inner one is in
/// progress.
class LoadJournal {
 public:
  /// Keeps nothing.
  LoadJournal() = default;
  /// An empty folder means that the user has none, which is a complaint.
  explicit LoadJournal(std::filesystem::path folder) : folder_(std::move(folder)), is_wanted_(true) {}

  void begin(const std::string& plugin, const std::string& module, const std::filesystem::path& library);
  void end() noexcept;
  /// Why loads are not remembered; empty when they are.
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  struct Load {
    std::string text;
    std::unique_ptr<platform::JournalFile> file;
  };
  void write(Load& load);
  void complain(const std::string& reason);

  std::filesystem::path folder_;
  std::vector<Load> loads_;
  int files_ = 0;
  bool is_wanted_ = false;
  std::string complaint_;
};

/// A load's place in the journal.
class JournalEntry {
 public:
  JournalEntry(LoadJournal& journal, const std::string& plugin, const std::string& module,
               const std::filesystem::path& library)
      : journal_(journal) {
    journal_.begin(plugin, module, library);
  }
  ~JournalEntry() { journal_.end(); }
  JournalEntry(const JournalEntry&) = delete;
  JournalEntry& operator=(const JournalEntry&) = delete;

 private:
  LoadJournal& journal_;
};

}  // namespace novaphy
