// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "novaphy/log.hpp"
#include "platform/host/own_process.hpp"
#include "platform/host/running_program.hpp"

namespace novaphy::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

using Snapshot = std::map<std::string, fs::file_time_type>;

/// Manifests, libraries and the folders that hold them, as they are planned now. A folder that does not exist
/// yet counts too. A configuration that is wrong for the moment is no reason to end: the program that runs
/// says it.
std::set<std::string> watched_paths(const Common& common) {
  std::set<std::string> out;
  if (!common.config.empty()) out.insert(common.config);
  try {
    RuntimeOptions options = runtime_options(common);
    options.plan_only = true;
    Runtime& runtime = Runtime::start(options);
    for (const SearchPlace& place : runtime.search_places()) out.insert(place.path);
    for (const ReportRow& row : runtime.report()) {
      out.insert(row.path);
      out.insert(fs::path(row.path).parent_path().string());
      if (!row.library.empty()) out.insert(row.library);
    }
  } catch (const Error&) {
  }
  Runtime::shutdown();
  return out;
}

Snapshot look(const std::set<std::string>& paths) {
  Snapshot out;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(path, error);
    out[path] = error ? fs::file_time_type::min() : time;
  }
  return out;
}

std::string changed(const Snapshot& before, const Snapshot& now) {
  for (const auto& [path, time] : now)
    if (before.at(path) != time) return path;
  return {};
}

std::vector<std::string> command_line(const Common& common) {
  std::vector<std::string> out = {platform::own_program()};
  for (std::size_t i = 1; i < common.command.size(); ++i)
    if (common.command[i] != "--watch") out.push_back(common.command[i]);
  return out;
}

/// Waits until nothing changes any more: a linker writes a library for a while.
void settle(const std::set<std::string>& paths) {
  Snapshot now = look(paths);
  while (platform::interrupted() == 0) {
    std::this_thread::sleep_for(300ms);
    Snapshot next = look(paths);
    if (changed(now, next).empty()) return;
    now = std::move(next);
  }
}

/// Until something changes; empty when the program is interrupted.
std::string wait_for_change(const Snapshot& before, const std::set<std::string>& paths,
                            platform::RunningProgram& program) {
  bool is_told = false;
  while (platform::interrupted() == 0) {
    std::this_thread::sleep_for(200ms);
    if (const auto code = program.ended(); code && !is_told) {
      std::cerr << "novaphy-host: ended with code " << *code << "; waits for a change of a plugin"
                << std::endl;
      is_told = true;
    }
    if (std::string path = changed(before, look(paths)); !path.empty()) return path;
  }
  return {};
}

}  // namespace

int watch(const Common& common) {
  platform::watch_for_interrupts();
  set_log_level(LogLevel::off);  // the program that runs logs the same
  const std::vector<std::string> command = command_line(common);
  while (platform::interrupted() == 0) {
    const std::set<std::string> paths = watched_paths(common);
    const Snapshot before = look(paths);
    platform::RunningProgram program(command);
    const std::string path = wait_for_change(before, paths, program);
    if (path.empty()) break;
    std::cerr << "novaphy-host: " << path << " has changed; starts again" << std::endl;
    program.stop();
    settle(paths);
  }
  return 128 + platform::interrupted();
}

}  // namespace novaphy::host
