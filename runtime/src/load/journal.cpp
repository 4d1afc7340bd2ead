// SPDX-License-Identifier: Apache-2.0
#include "load/journal.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "manifest/problems.hpp"
#include "novaphy/log.hpp"
#include "platform/files.hpp"
#include "platform/process.hpp"

namespace novaphy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSuffix = ".json";

/// "2026-11-30", in universal time.
std::string today() {
  const auto now = std::chrono::system_clock::now();
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(now));
  const auto two_digits = [](unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two_digits(static_cast<unsigned>(date.month())) + "-" +
         two_digits(static_cast<unsigned>(date.day()));
}

/// A file of the journal whose process has ended.
struct Abandoned {
  fs::path file;
  QuarantinedModule module;
  std::string stamp;
};

std::optional<Abandoned> read_entry(const fs::path& path) {
  const std::optional<std::string> text = platform::read_abandoned(path);
  if (!text) return std::nullopt;
  const json entry = json::parse(*text, nullptr, false);
  try {
    const json& process = entry.at("process");
    const platform::ProcessIdentity who{process.at("id"), process.at("start"), process.at("boot"),
                                        process.at("machine")};
    if (!platform::has_ended(who)) return std::nullopt;
    return Abandoned{path,
                     {entry.at("plugin"), entry.at("module"), entry.at("library"), who.id, entry.at("date")},
                     entry.at("stamp")};
  } catch (const json::exception&) {
    return std::nullopt;  // not written by us, or not to its end
  }
}

std::vector<Abandoned> read_entries(const fs::path& folder) {
  std::vector<Abandoned> out;
  if (folder.empty()) return out;
  for (const fs::path& path : platform::sorted_entries(folder).paths)
    if (path.extension() == kSuffix)
      if (auto entry = read_entry(path)) out.push_back(std::move(*entry));
  return out;
}

}  // namespace

fs::path journal_folder() {
  const fs::path state = platform::user_state_folder();
  return state.empty() ? fs::path() : state / "novaphy" / "loading";
}

std::vector<QuarantinedModule> unfinished_loads(const fs::path& folder) {
  std::vector<QuarantinedModule> out;
  for (const Abandoned& entry : read_entries(folder)) {
    const std::string stamp = platform::file_stamp(entry.module.library);
    if (stamp == entry.stamp) {
      const auto is_it = [&](const QuarantinedModule& other) {
        return other.library == entry.module.library;
      };
      if (std::none_of(out.begin(), out.end(), is_it)) out.push_back(entry.module);
    } else if (!stamp.empty()) {
      std::error_code ignored;  // it stands for another library, whether it goes or not
      fs::remove(entry.file, ignored);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.module < b.module; });
  return out;
}

std::size_t forgive_loads(const fs::path& folder, std::string_view name) {
  std::size_t count = 0;
  for (const Abandoned& entry : read_entries(folder)) {
    if (entry.module.plugin != name && entry.module.module != name) continue;
    std::error_code error;
    fs::remove(entry.file, error);
    if (error)
      fail(ErrorKind::generic, entry.file.string(), " cannot be removed: ", error.message(),
           "; remove it by hand");
    ++count;
  }
  return count;
}

std::string quarantine_text(const QuarantinedModule& module) {
  return "was loading when process " + std::to_string(module.process) + " died on " + module.date +
         "; run 'novaphy-host check " + module.plugin + "', then 'novaphy-host forgive " + module.plugin +
         "'";
}

void LoadJournal::begin(const std::string& plugin, const std::string& module, const fs::path& library) {
  Load load;
  if (!folder_.empty()) {
    const platform::ProcessIdentity self = platform::this_process();
    const json process = {
        {"id", self.id}, {"start", self.start}, {"boot", self.boot}, {"machine", self.machine}};
    load.text = json{{"plugin", plugin},
                     {"module", module},
                     {"library", library.string()},
                     {"stamp", platform::file_stamp(library)},
                     {"date", today()},
                     {"process", process}}
                    .dump(2, ' ', false, json::error_handler_t::replace) +
                "\n";
    write(load);
  } else if (is_wanted_) {
    complain("has no place: neither XDG_STATE_HOME nor HOME names a folder; set one of them");
  }
  if (!loads_.empty()) loads_.back().file.reset();
  loads_.push_back(std::move(load));
}

void LoadJournal::end() noexcept {
  Load ended = std::move(loads_.back());
  loads_.pop_back();
  if (!loads_.empty() && !folder_.empty()) write(loads_.back());
}

void LoadJournal::write(Load& load) {
  try {
    const std::string name = std::to_string(platform::this_process().id) + "-" +
                             std::to_string(platform::this_process().start) + "-" + std::to_string(files_++) +
                             kSuffix;
    load.file = std::make_unique<platform::JournalFile>(folder_ / name, load.text);
  } catch (const std::exception& error) {
    complain(std::string("cannot be written: ") + error.what() +
             "; make its folder writable, or set XDG_STATE_HOME");
  }
}

void LoadJournal::complain(const std::string& reason) {
  if (!complaint_.empty()) return;
  complaint_ = printable("the journal of loads " + reason +
                         ". Until then a plugin that kills the process is not known at the next start");
  log(LogLevel::debug, complaint_);
}

}  // namespace novaphy
