// SPDX-License-Identifier: Apache-2.0
// The runtime's log: spdlog writes to stderr unless somebody has set a sink.
#include "novaphy/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "core/locks.hpp"
#include "manifest/problems.hpp"

namespace novaphy {
namespace {

std::atomic<LogLevel> level_limit{LogLevel::warn};

struct Output {
  LogSink sink = nullptr;
  void* context = nullptr;
  std::map<std::string, LogLevel, std::less<>> level_of_module;
  spdlog::logger logger{"novaphy", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};

  Output() {
    logger.set_level(spdlog::level::trace);  // `level_limit` decides
    logger.set_pattern("%n %^%l%$: %v");
  }
};

/// Never destroyed: other libraries may log while the process ends.
Output& output() {
  static Output& instance = *new Output;
  return instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

/// Under the lock.
void write(Output& out, LogLevel level, std::string_view message) {
  const std::string line = printable(std::string(message));
  if (out.sink)
    out.sink(out.context, level, line.c_str());
  else
    out.logger.log(to_spdlog(level), spdlog::string_view_t(line));
}

}  // namespace

void log(LogLevel level, std::string_view message) {
  if (level < level_limit.load(std::memory_order_relaxed) || level == LogLevel::off) return;
  Output& out = output();
  const std::lock_guard lock(log_mutex());
  write(out, level, message);
}

void log_of(std::string_view module, LogLevel level, std::string_view message) {
  if (level == LogLevel::off) return;
  Output& out = output();
  const std::lock_guard lock(log_mutex());
  const auto own = out.level_of_module.find(module);
  if (level < (own == out.level_of_module.end() ? log_level() : own->second)) return;
  write(out, level, std::string(module) + ": " + std::string(message));
}

void set_log_level(std::string_view module, LogLevel level) {
  Output& out = output();
  const std::lock_guard lock(log_mutex());
  out.level_of_module.insert_or_assign(std::string(module), level);
}

void set_log_level(LogLevel level) {
  level_limit.store(level, std::memory_order_relaxed);
}

LogLevel log_level() {
  return level_limit.load(std::memory_order_relaxed);
}

void set_log_sink(LogSink sink, void* context) {
  Output& out = output();
  const std::lock_guard lock(log_mutex());
  out.sink = sink;
  out.context = context;
}

}  // namespace novaphy
