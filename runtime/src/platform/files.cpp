// SPDX-License-Identifier: Apache-2.0
#include "platform/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace novaphy::platform {
namespace {

std::string error_text(int code) {
  return std::generic_category().message(code);
}

}  // namespace

FileText read_file(const fs::path& path, std::uintmax_t limit) {
  FileText out;
  // non-blocking: opening a FIFO would wait for somebody who writes
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {{}, error_text(errno), 0, {}};
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    return {{}, S_ISDIR(status.st_mode) ? error_text(EISDIR) : "Not a regular file", 0, {}};
  }
  out.size = static_cast<std::uintmax_t>(status.st_size);
  out.permissions = permissions_of(status);
  std::array<char, 1 << 14> chunk{};
  ssize_t count = 0;
  while (out.text.size() <= limit && (count = read(file, chunk.data(), chunk.size())) > 0)
    out.text.append(chunk.data(), static_cast<std::size_t>(count));
  if (count < 0) out.error = error_text(errno);
  close(file);
  out.size = std::max<std::uintmax_t>(out.size, out.text.size());
  return out;
}

fs::path canonical_or_empty(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::canonical(path, error);
  return error ? fs::path() : result;
}

bool exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

FolderEntries sorted_entries(const fs::path& folder) {
  FolderEntries out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    out.paths.push_back(*at);
  if (error) out.error = error.message();
  std::sort(out.paths.begin(), out.paths.end(),
            [](const auto& a, const auto& b) { return a.path().native() < b.path().native(); });
  return out;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace novaphy::platform
