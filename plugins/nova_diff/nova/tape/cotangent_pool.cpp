// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/cotangent_pool.hpp"

#include <algorithm>

#include "nova/tape/effects.hpp"
#include "novaphy/error.hpp"

namespace nova {
namespace {

constexpr std::size_t kAlignment = 64, kSlack = 64, kSlab = std::size_t{1} << 16;

std::size_t rounded(std::size_t bytes) {
  return (bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

CotangentPool::Size& CotangentPool::size_class(std::size_t bytes) {
  for (Size& size : sizes_)
    if (size.bytes == bytes) return size;
  return sizes_.emplace_back(Size{bytes, {}});
}

float* CotangentPool::take(std::size_t bytes) {
  const std::size_t block = rounded(bytes);
  Size& size = size_class(block);
  float* buffer = nullptr;
  if (!size.free.empty()) {
    buffer = size.free.back();
    size.free.pop_back();
  } else {
    if (block > left_) {
      left_ = std::max(kSlab, block);
      bytes_ += left_;
      next_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, left_));
      NOVAPHY_REQUIRE(next_ != nullptr, novaphy::ErrorKind::generic,
                      "nova: out of memory: could not allocate ", left_, " bytes for cotangents");
      slabs_.emplace_back(next_, [](std::byte* p) { std::free(p); });
      Effects::now().keep(slabs_.back());
    }
    buffer = reinterpret_cast<float*>(next_);
    next_ += block, left_ -= block;
  }
  Effects::now().zero(buffer, bytes);
  return buffer;
}

void CotangentPool::give_back(float* buffer, std::size_t bytes) {
  size_class(rounded(bytes)).free.push_back(buffer);
}

}  // namespace nova
