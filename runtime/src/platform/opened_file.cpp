// SPDX-License-Identifier: Apache-2.0
#include "platform/opened_file.hpp"

#include <fcntl.h>
#include <sha256.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <system_error>

namespace novaphy::platform {
namespace {

std::string error_text(const char* what) {
  return std::string(what) + ": " + std::generic_category().message(errno);
}

/// "fe:01 131090": device and inode of the file that is mapped at an address, as the kernel names them. It
/// may name them otherwise than stat() does (overlay and btrfs file systems), so two mappings are compared.
std::optional<std::string> file_mapped_at(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    std::array<char, 32> device{}, inode{};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %31s %31s", &begin, &end, device.data(),
                    inode.data()) == 4 &&
        begin <= wanted && wanted < end)
      return std::string(device.data()) + " " + inode.data();
  }
  return std::nullopt;
}

}  // namespace

OpenedFile::OpenedFile(const fs::path& path) : path_(path) {
  // non-blocking: opening a FIFO would wait for somebody who writes
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) throw FileError{error_text("cannot be opened")};
  struct stat status {};
  const bool is_known = fstat(file_, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    FileError error{is_known ? "is not a regular file" : error_text("cannot be read")};
    close(file_);
    throw error;
  }
  permissions_ = permissions_of(status);
  size_ = status.st_size;
  changed_s_ = status.st_ctim.tv_sec;
  changed_ns_ = status.st_ctim.tv_nsec;
}

OpenedFile::~OpenedFile() {
  close(file_);
}

std::string OpenedFile::sha256() const {
  SHA2_CTX context;
  SHA256Init(&context);
  std::array<std::uint8_t, 1 << 16> chunk{};
  off_t offset = 0;
  ssize_t count = 0;
  while ((count = pread(file_, chunk.data(), chunk.size(), offset)) > 0) {
    SHA256Update(&context, chunk.data(), static_cast<std::size_t>(count));
    offset += count;
  }
  if (count < 0) throw FileError{error_text("cannot be read")};
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  return SHA256End(&context, text.data());
}

bool OpenedFile::is_mapped_at(const void* address) const {
  if (!is_unchanged()) return false;
  if (const auto theirs = file_mapped_at(address)) {
    void* mine = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file_, 0);
    if (mine == MAP_FAILED) return false;
    const bool is_same = file_mapped_at(mine) == theirs;
    munmap(mine, 1);
    return is_same;
  }
  struct stat here {
  }, opened{};
  return stat(path_.c_str(), &here) == 0 && fstat(file_, &opened) == 0 && here.st_dev == opened.st_dev &&
         here.st_ino == opened.st_ino;
}

bool OpenedFile::is_unchanged() const {
  struct stat status {};
  return fstat(file_, &status) == 0 && status.st_size == size_ && status.st_ctim.tv_sec == changed_s_ &&
         status.st_ctim.tv_nsec == changed_ns_;
}

}  // namespace novaphy::platform
