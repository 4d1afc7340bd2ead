// SPDX-License-Identifier: Apache-2.0
#include "platform/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>

namespace novaphy::platform {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kChannelVariable = "NOVAPHY_CHILD_CHANNEL";
// far above what a program opens by itself: a plugin that closes or reuses small numbers does not hit it
constexpr int kChannel = 199;

/// A pipe whose ends are closed on exec: nobody but the child that gets a duplicate holds them.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    for (int& end : ends_) lift(end);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }
  bool is_open() const { return ends_[0] >= 0; }

 private:
  /// In a program without stdin or stdout a pipe takes their numbers, which the child's streams would
  /// overwrite.
  static void lift(int& end) {
    if (end > STDERR_FILENO) return;
    const int low = std::exchange(end, fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    close(low);
  }
  void close_end(std::size_t index) {
    if (ends_[index] >= 0) close(std::exchange(ends_[index], -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

/// One stream of the child and what has come through it.
struct Stream {
  Pipe pipe;
  std::string text;
};

/// Takes what lies in the pipe. The pipe is closed when its last writer is gone.
void drain(Stream& stream) {
  std::array<char, 1 << 14> chunk{};
  while (stream.pipe.is_open()) {
    const ssize_t count = read(stream.pipe.reader(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      stream.pipe.close_reader();
      return;
    }
    const std::size_t room = kMaxChildOutput - stream.text.size();
    stream.text.append(chunk.data(), std::min(static_cast<std::size_t>(count), room));
  }
}

/// Holds what posix_spawn is told; its parts must be released.
struct SpawnRules {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  SpawnRules() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnRules() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnRules(const SpawnRules&) = delete;
  SpawnRules& operator=(const SpawnRules&) = delete;
};

/// A group of its own, so that the limit ends what the child has started too; signals as in a fresh shell,
/// because Python ignores some and an ignored signal stays ignored in a child.
void set_signals_and_group(SpawnRules& rules) {
  sigset_t none, all;
  sigemptyset(&none);
  sigemptyset(&all);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGXFSZ})
    sigaddset(&all, signal);
  posix_spawnattr_setsigmask(&rules.attributes, &none);
  posix_spawnattr_setsigdefault(&rules.attributes, &all);
  posix_spawnattr_setpgroup(&rules.attributes, 0);
  posix_spawnattr_setflags(&rules.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

std::vector<std::string> environment_of(const ChildCommand& command) {
  std::map<std::string, std::string> values;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    if (const std::size_t equal = entry.find('='); equal != std::string::npos)
      values[entry.substr(0, equal)] = entry.substr(equal + 1);
  }
  for (const auto& [name, value] : command.environment) values[name] = value;
  values[kChannelVariable] = std::to_string(kChannel);
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// A running child with its three streams.
struct Child {
  Stream output, errors, channel;
  pid_t id = -1;
  std::optional<int> status;

  std::array<Stream*, 3> streams() { return {&output, &errors, &channel}; }

  /// 0, or the error of posix_spawn.
  int start(const ChildCommand& command) {
    SpawnRules rules;
    set_signals_and_group(rules);
    posix_spawn_file_actions_addopen(&rules.files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&rules.files, output.pipe.writer(), 1);
    posix_spawn_file_actions_adddup2(&rules.files, errors.pipe.writer(), 2);
    posix_spawn_file_actions_adddup2(&rules.files, channel.pipe.writer(), kChannel);
    std::vector<std::string> arguments = command.arguments, environment = environment_of(command);
    arguments.insert(arguments.begin(), command.program.string());
    const int error = posix_spawn(&id, command.program.c_str(), &rules.files, &rules.attributes,
                                  pointers(arguments).data(), pointers(environment).data());
    for (Stream* stream : streams()) {
      stream->pipe.close_writer();
      fcntl(stream->pipe.reader(), F_SETFL, O_NONBLOCK);
    }
    return error;
  }

  /// Whether it has ended. What it started ends with it.
  bool has_ended() {
    siginfo_t info{};
    const int got = waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOHANG | WNOWAIT);
    if (got == 0 && info.si_pid == 0) return false;
    if (got == 0) kill_all();  // before its number is free for another process
    int value = 0;
    // without a child to wait for, somebody else in this process has taken its status
    status = waitpid(id, &value, 0) == id ? value : -1;
    return true;
  }

  void kill_all() const {
    kill(-id, SIGKILL);
    kill(id, SIGKILL);
  }

  /// Waits a little for output. The streams close when the child ends, so this returns at once then.
  void wait_for_output(std::chrono::milliseconds most) {
    std::array<pollfd, 3> waiting{};
    std::size_t count = 0;
    for (const Stream* stream : streams())
      if (stream->pipe.is_open()) waiting[count++] = {stream->pipe.reader(), POLLIN, 0};
    poll(waiting.data(), count, static_cast<int>(most.count()));
    for (Stream* stream : streams()) drain(*stream);
  }
};

void run_to_end(Child& child, const ChildCommand& command, ChildResult& result) {
  const Clock::time_point end = Clock::now() + command.limit;
  // short at first for the many that end at once; a grandchild may hold the streams open for ever
  std::chrono::milliseconds slice{1};
  while (!child.has_ended()) {
    if (Clock::now() >= end && !result.timed_out) {
      result.timed_out = true;
      child.kill_all();
    }
    child.wait_for_output(slice);
    slice = std::min(slice * 2, std::chrono::milliseconds(20));
  }
  child.wait_for_output(std::chrono::milliseconds(0));
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::array<char, 32> out{};
  const auto end =
      std::to_chars(out.data(), out.data() + out.size(), static_cast<double>(time.count()) / 1000.0);
  return {out.data(), end.ptr};
}

}  // namespace

ChildResult run_child(const ChildCommand& command) {
  ChildResult result;
  result.limit = command.limit;
  Child child;
  if (const int error = child.start(command); error != 0) {
    result.start_error = std::generic_category().message(error);
    return result;
  }
  run_to_end(child, command, result);
  const int status = *child.status;
  if (status >= 0 && WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (status >= 0 && WIFSIGNALED(status) && !result.timed_out) result.signal = WTERMSIG(status);
  result.output = std::move(child.output.text);
  result.errors = std::move(child.errors.text);
  // the NUL is the mark of a whole text: a child may end in the middle of writing
  if (const std::size_t end = child.channel.text.find('\0'); end != std::string::npos)
    result.completion = child.channel.text.substr(0, end);
  return result;
}

std::string ChildResult::ending() const {
  if (!start_error.empty()) return "could not be started: " + start_error;
  if (timed_out) return "did not end within " + seconds_text(limit) + " s";
  if (signal != 0) return "was killed by " + signal_name(signal);
  if (!exit_code) return "ended unseen";
  return "ended with exit code " + std::to_string(*exit_code) +
         (*exit_code == 0 && !completion ? " before its work was done" : "");
}

std::string ChildResult::last_words() const {
  const std::size_t end = errors.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  const std::size_t line = errors.rfind('\n', end);
  const std::size_t begin = errors.find_first_not_of(" \n", line == std::string::npos ? 0 : line);
  const std::size_t count = end + 1 - begin;
  return errors.substr(begin, std::min<std::size_t>(count, 200)) + (count > 200 ? "..." : "");
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

ChildSide::ChildSide() {
  const char* text = std::getenv(kChannelVariable);
  if (text == nullptr) return;
  int number = -1;
  const auto parsed = std::from_chars(text, text + std::strlen(text), number);
  unsetenv(kChannelVariable);
  if (parsed.ec != std::errc() || *parsed.ptr != '\0' || fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return;
  channel_ = number;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer any more
  constexpr rlimit kNoCore{0, 0};
  setrlimit(RLIMIT_CORE, &kNoCore);  // a crash is what the parent wants to hear about, not a file
}

ChildSide::~ChildSide() {
  if (channel_ >= 0) close(channel_);
}

void ChildSide::complete(std::string_view text) noexcept {
  if (channel_ < 0) return;
  const auto write_all = [this](std::string_view rest) {
    while (!rest.empty()) {
      const ssize_t count = write(channel_, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  };
  write_all(text);
  write_all(std::string_view("\0", 1));
  close(std::exchange(channel_, -1));
}

}  // namespace novaphy::platform
