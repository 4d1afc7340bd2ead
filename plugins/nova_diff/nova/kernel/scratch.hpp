// SPDX-License-Identifier: Apache-2.0
// Working memory of launches, kept by each thread for its next launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "novaphy/error.hpp"

namespace nova {

/// 64-byte aligned memory that only grows; its content is undefined.
class Scratch {
 public:
  float* reserve(std::size_t count) {
    if (count > size_) {
      size_ = std::max(count, 2 * size_);
      block_.reset(static_cast<float*>(std::aligned_alloc(64, (size_ * sizeof(float) + 63) / 64 * 64)));
      if (!block_)
        novaphy::fail(novaphy::ErrorKind::generic, "nova: out of memory: could not allocate ",
                      size_ * sizeof(float), " bytes");
    }
    return block_.get();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> block_;
  std::size_t size_ = 0;
};

/// One block of this thread for as long as the object lives; a launch inside of a launch gets another one.
/// Blocks above 16 MB are not kept.
class Lease {
 public:
  explicit Lease(std::size_t count) {
    auto& spare = spares();
    if (!spare.empty()) block_ = std::move(spare.back()), spare.pop_back();
    data_ = block_.reserve(count);
  }
  ~Lease() {
    if (block_.size() <= kMostKept) spares().push_back(std::move(block_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  float* data() const noexcept { return data_; }

 private:
  static constexpr std::size_t kMostKept = (std::size_t{16} << 20) / sizeof(float);
  static std::vector<Scratch>& spares() {
    thread_local std::vector<Scratch> blocks;
    return blocks;
  }
  Scratch block_;
  float* data_ = nullptr;
};

}  // namespace nova
