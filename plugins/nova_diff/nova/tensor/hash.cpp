// SPDX-License-Identifier: Apache-2.0
// The content hash: four independent multiply-and-rotate chains over 32 bytes at a time.
#include <bit>
#include <cstring>

#include "nova/tensor/slot.hpp"

namespace nova {
namespace {

constexpr std::uint64_t kOdd1 = 0x9E3779B185EBCA87ull, kOdd2 = 0xC2B2AE3D27D4EB4Full;

std::uint64_t mix(std::uint64_t chain, std::uint64_t word) {
  return std::rotl((chain ^ word) * kOdd1, 31) * kOdd2;
}

}  // namespace

std::uint64_t content_hash(const novaphy::Storage& storage) noexcept {
  const auto* bytes = static_cast<const unsigned char*>(storage.data());
  std::size_t left = storage.bytes();
  std::uint64_t chains[4] = {1, 2, 3, 4};
  for (; left >= 32; left -= 32, bytes += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes, 32);
    for (int k = 0; k < 4; ++k) chains[k] = mix(chains[k], words[k]);
  }
  std::uint64_t rest[4] = {};
  if (left > 0) std::memcpy(rest, bytes, left);
  std::uint64_t hash = storage.bytes();
  for (int k = 0; k < 4; ++k) hash = mix(hash, mix(chains[k], rest[k]));
  return hash ^ hash >> 32;
}

}  // namespace nova
