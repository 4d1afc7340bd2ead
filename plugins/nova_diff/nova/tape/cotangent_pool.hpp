// SPDX-License-Identifier: Apache-2.0
// Zeroed buffers for cotangents, handed out and taken back by size.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace nova {

class CotangentPool {
 public:
  /// `bytes` of zeros, 64-byte aligned, with 64 readable bytes after the end.
  float* take(std::size_t bytes);
  void give_back(float* buffer, std::size_t bytes);
  void clear() { sizes_.clear(), slabs_.clear(), left_ = 0, bytes_ = 0; }
  /// Memory that it holds.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Size {
    std::size_t bytes;
    std::vector<float*> free;
  };
  Size& size_class(std::size_t bytes);
  std::vector<Size> sizes_;  // few: one per distinct array size
  std::vector<std::shared_ptr<std::byte>> slabs_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0, bytes_ = 0;
};

}  // namespace nova
