// SPDX-License-Identifier: Apache-2.0
// Log lines: library code never prints.
#pragma once

#include <string_view>

#include "novaphy/export.hpp"

namespace novaphy {

enum class LogLevel : int { trace = 0, debug, info, warn, error, off };

/// Writes one line to the runtime's log (stderr by default, Python's `logging` under Python). Thread-safe.
NOVAPHY_API void log(LogLevel level, std::string_view message);

/// Lines below `level` are dropped. Default: warn.
NOVAPHY_API void set_log_level(LogLevel level);
NOVAPHY_API LogLevel log_level();

/// Lines of one module are dropped below a level of their own, whatever the general one.
NOVAPHY_API void set_log_level(std::string_view module, LogLevel level);
/// Writes one line of a module: "<module>: <message>".
NOVAPHY_API void log_of(std::string_view module, LogLevel level, std::string_view message);

/// Receives every line that passes the level; null restores the default. `sink` is called under the log's lock: it
/// must not log, nor wait for a thread that may.
using LogSink = void (*)(void* context, LogLevel level, const char* message);
NOVAPHY_API void set_log_sink(LogSink sink, void* context);

}  // namespace novaphy
