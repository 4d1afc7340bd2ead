// SPDX-License-Identifier: Apache-2.0
// The runtime's log lines go to Python's `logging`, logger "novaphy".
#include <deque>
#include <mutex>
#include <utility>

#include "bindings.hpp"
#include "novaphy/log.hpp"

namespace novaphy::python {
namespace {

/// Lines wait here until the main thread runs Python code: the sink is called under the log's lock, and
/// taking the GIL under a lock that a thread with the GIL may want would be a deadlock.
struct Queue {
  std::mutex mutex;
  std::deque<std::pair<LogLevel, std::string>> lines;
};

Queue& queue() {
  static Queue& instance = *new Queue;
  return instance;
}

int python_level(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return 5;
    case LogLevel::debug:
      return 10;
    case LogLevel::info:
      return 20;
    case LogLevel::warn:
      return 30;
    default:
      return 40;
  }
}

void deliver() {
  std::deque<std::pair<LogLevel, std::string>> lines;
  {
    const std::lock_guard lock(queue().mutex);
    lines.swap(queue().lines);
  }
  if (lines.empty()) return;
  const py::object logger = py::module_::import("logging").attr("getLogger")("novaphy");
  for (const auto& [level, line] : lines) logger.attr("log")(python_level(level), "%s", line);
}

int deliver_pending(void*) {
  try {
    deliver();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("the delivery of a NovaPhy log line");
  }
  return 0;
}

void receive(void*, LogLevel level, const char* message) {
  {
    const std::lock_guard lock(queue().mutex);
    queue().lines.emplace_back(level, message);
  }
  Py_AddPendingCall(&deliver_pending, nullptr);
}

}  // namespace

void bind_log(py::module_& m) {
  m.def(
      "set_log_level",
      [](const std::string& name) {
        static constexpr const char* kNames[] = {"trace", "debug", "info", "warn", "error", "off"};
        for (int i = 0; i < 6; ++i)
          if (name == kNames[i]) return set_log_level(static_cast<LogLevel>(i));
        fail(ErrorKind::value, "set_log_level: '", name,
             "' is not one of trace, debug, info, warn, error, off");
      },
      py::arg("level"),
      "Drops log lines below this level: trace, debug, info, warn (the default), error or off.");
  set_log_sink(&receive, nullptr);
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    set_log_sink(nullptr, nullptr);
    deliver();
  }));
}

}  // namespace novaphy::python
