// SPDX-License-Identifier: Apache-2.0
// Blocks of memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

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

/// The living regions of a root by (offset, bytes). Those that nobody holds any more are forgotten now and
/// then.
struct Storage::Regions {
  std::map<std::pair<std::size_t, std::size_t>, std::weak_ptr<Storage>> by_place;
  std::size_t longest = 0;    // bytes
  std::size_t purge_at = 64;  // entries

  void purge() {
    if (by_place.size() < purge_at) return;
    std::erase_if(by_place, [](const auto& entry) { return entry.second.expired(); });
    purge_at = 2 * by_place.size() + 64;
  }
};

Storage::Storage() = default;

// The root and the regions that share bytes with this one.
template <class Action>
void Storage::for_each_relative(Action action) {
  if (root_) action(*root_);
  const Regions& regions = *base().regions_;
  const std::size_t begin = offset_, end = offset_ + bytes_;
  const std::size_t first = begin > regions.longest ? begin - regions.longest : 0;
  for (auto at = regions.by_place.lower_bound({first, 0});
       at != regions.by_place.end() && at->first.first < end; ++at) {
    if (at->first.first + at->first.second <= begin) continue;
    if (const std::shared_ptr<Storage> region = at->second.lock(); region && region.get() != this)
      action(*region);
  }
}

void Storage::raise_relatives() noexcept {
  for_each_relative([](Storage& relative) { ++relative.version_; });
}

void Storage::tell_relatives(std::uint64_t recording) noexcept {
  for_each_relative([&](Storage& relative) {
    const bool covered =
        offset_ <= relative.offset_ && relative.offset_ + relative.bytes_ <= offset_ + bytes_;
    if (covered || recording != 0) relative.recording_ = recording;
  });
}

std::shared_ptr<Storage> Storage::region(const std::shared_ptr<Storage>& of, std::size_t offset,
                                         std::size_t bytes) {
  NOVAPHY_REQUIRE(of && offset <= of->bytes_ && bytes <= of->bytes_ - offset, ErrorKind::index, "bytes ",
                  offset, " to ", offset + bytes, " of a storage of ", of ? of->bytes_ : 0, " bytes");
  if (bytes == of->bytes_) return of;
  const std::shared_ptr<Storage>& root = of->root_ ? of->root_ : of;
  const std::size_t begin = of->offset_ + offset;
  if (!root->regions_) root->regions_ = std::make_unique<Regions>();
  Regions& regions = *root->regions_;
  regions.purge();
  std::weak_ptr<Storage>& known = regions.by_place[{begin, bytes}];
  if (std::shared_ptr<Storage> living = known.lock()) return living;
  struct Block final : Storage {};
  auto storage = std::make_shared<Block>();
  storage->data_ = static_cast<std::byte*>(root->data_) + begin;
  storage->bytes_ = bytes, storage->offset_ = begin;
  storage->device_ = root->device_;
  storage->has_slack_ = root->has_slack_, storage->external_ = root->external_;
  storage->recording_ = root->recording_;
  storage->root_ = root;
  known = storage;
  regions.longest = std::max(regions.longest, bytes);
  return storage;
}

std::shared_ptr<Storage> Storage::allocate(Device device, std::size_t bytes) {
  NOVAPHY_REQUIRE(device.is_cpu(), ErrorKind::plugin_not_available, "device '", to_string(device),
                  "' needs plugin 'cuda_backend', which is not there: use device 'cpu'");
  struct Block final : Storage {};  // lets make_shared reach the private constructor
  auto storage = std::make_shared<Block>();
  storage->data_ = allocate_zeroed(bytes);
  storage->bytes_ = bytes;
  storage->device_ = device;
  storage->has_slack_ = true;
  if (is_capturing()) capture_listener()->allocated(storage);
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
  if (!external_ && !root_ && data_ != empty_block) std::free(data_);
}

}  // namespace novaphy
