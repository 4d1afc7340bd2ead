// SPDX-License-Identifier: Apache-2.0
#include "platform/journal_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "platform/files.hpp"
#include "platform/process.hpp"

namespace novaphy::platform {
namespace {

constexpr std::uintmax_t kMaxText = 1 << 16;

std::string first_word(const fs::path& file) {
  std::istringstream words(read_file(file, kMaxText).text);
  std::string word;
  words >> word;
  return word;
}

/// When the process began, 0 when there is none. The command's name, which may hold anything, ends at the
/// last ')'.
unsigned long long start_of(long id) {
  const std::string text = read_file("/proc/" + std::to_string(id) + "/stat", kMaxText).text;
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream words(text.substr(end + 1));
  std::string word;
  for (int field = 3; field < 22; ++field) words >> word;
  unsigned long long start = 0;
  words >> start;
  return start;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

[[noreturn]] void throw_errno(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), what + (" " + path.string()));
}

void sync_folder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

}  // namespace

ProcessIdentity this_process() {
  const long id = getpid();
  return {id, start_of(id), first_word("/proc/sys/kernel/random/boot_id"), machine_name()};
}

bool has_ended(const ProcessIdentity& process) {
  const ProcessIdentity here = this_process();
  if (process.boot != here.boot) return process.machine == here.machine;  // this machine has started anew
  return start_of(process.id) != process.start;
}

std::string file_stamp(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return std::to_string(status.st_ino) + ":" + std::to_string(status.st_size) + ":" +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

JournalFile::JournalFile(fs::path path, const std::string& text)
    : path_(std::move(path)), removed_when_interrupted_(path_.c_str()) {
  std::error_code ignored;  // the open says what is wrong
  fs::create_directories(path_.parent_path(), ignored);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0) throw_errno("open", path_);
  // the lock ends with the process whatever ends it, and is seen from other containers, where the process has
  // another number. Where a file system has no locks, the process's identity in the text decides.
  flock(file_, LOCK_EX);
  if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || fsync(file_) != 0) {
    const int error = errno;
    unlink(path_.c_str());
    close(file_);
    errno = error != 0 ? error : ENOSPC;
    throw_errno("write", path_);
  }
  sync_folder(path_.parent_path());
}

JournalFile::~JournalFile() {
  unlink(path_.c_str());  // before the lock goes: nobody sees it abandoned
  close(file_);
}

std::optional<std::string> read_abandoned(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  if (flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) text = read_file(path, kMaxText).text;
  close(file);
  return text;
}

}  // namespace novaphy::platform
