// SPDX-License-Identifier: Apache-2.0
// Blocks of memory.
#include <cstdlib>
#include <cstring>

#include "novaphy/array.hpp"

namespace novaphy {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSlack = 64;  // vector code may read this far past the end

/// What empty storages point to, so that making one allocates no block.
alignas(kAlignment) std::byte empty_block[kSlack];

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void* allocate_zeroed(std::size_t bytes) {
  if (bytes == 0) return empty_block;
  const std::size_t total = round_up(bytes + kSlack);
  void* block = total > bytes ? std::aligned_alloc(kAlignment, total) : nullptr;
  NOVAPHY_REQUIRE(block, ErrorKind::generic, "out of memory: could not allocate ", bytes,
                  " bytes on device 'cpu'");
  return std::memset(block, 0, total);
}

}  // namespace

std::shared_ptr<Storage> Storage::allocate(Device device, std::size_t bytes) {
  NOVAPHY_REQUIRE(device.is_cpu(), ErrorKind::plugin_not_available, "device '", to_string(device),
                  "' needs plugin 'cuda_backend', which is not there: use device 'cpu'");
  struct Block final : Storage {};  // lets make_shared reach the private constructor
  auto storage = std::make_shared<Block>();
  storage->data_ = allocate_zeroed(bytes);
  storage->bytes_ = bytes;
  storage->device_ = device;
  storage->has_slack_ = true;
  return storage;
}

std::shared_ptr<Storage> Storage::wrap(void* data, std::size_t bytes, Device device,
                                       std::shared_ptr<void> owner, bool others_may_write) {
  NOVAPHY_REQUIRE(data || bytes == 0, ErrorKind::value, "a memory block of ", bytes,
                  " bytes has a null pointer");
  struct Block final : Storage {};
  auto storage = std::make_shared<Block>();
  storage->data_ = data;
  storage->bytes_ = bytes;
  storage->device_ = device;
  storage->external_ = true;
  storage->escaped_ = others_may_write;
  storage->owner_ = std::move(owner);
  return storage;
}

Storage::~Storage() {
  if (!external_ && data_ != empty_block) std::free(data_);
}

}  // namespace novaphy
