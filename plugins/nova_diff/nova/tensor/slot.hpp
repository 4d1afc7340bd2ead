// SPDX-License-Identifier: Apache-2.0
// What Nova keeps beside each array, in Storage::tensor_slot: its gradient and facts about its content.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "novaphy/array.hpp"

namespace nova {

class PatchPlan;

struct Slot {
  std::shared_ptr<novaphy::Storage> grad;  ///< null = no gradient
  std::weak_ptr<novaphy::Storage> pinned;  ///< the buffer that a captured graph knows; a new gradient goes there
  std::uint64_t grad_tape = 0;             ///< the recording that wrote `grad` last

  // The largest entry of an index array, known for one version.
  std::atomic<std::uint64_t> largest_version{~std::uint64_t{0}};
  std::atomic<std::int32_t> largest{0};

  // How an index array is cut into patches; PatchPlan::of keeps them current.
  std::mutex plan_lock;
  std::vector<std::shared_ptr<const PatchPlan>> plans;
};

/// The slot of an array, made when it has none. Any thread.
Slot& slot_of(novaphy::Storage& storage);
/// The same, null when it has none.
Slot* find_slot(const novaphy::Storage& storage) noexcept;

/// A 64-bit hash of the content, for arrays that others may write behind our back.
std::uint64_t content_hash(const novaphy::Storage& storage) noexcept;

}  // namespace nova
