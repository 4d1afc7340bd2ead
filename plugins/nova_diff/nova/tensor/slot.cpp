// SPDX-License-Identifier: Apache-2.0
#include "nova/tensor/slot.hpp"

namespace nova {

Slot& slot_of(novaphy::Storage& storage) {
  std::shared_ptr<void> known = std::atomic_load_explicit(&storage.tensor_slot, std::memory_order_acquire);
  if (!known) {
    std::shared_ptr<void> made = std::make_shared<Slot>();
    if (std::atomic_compare_exchange_strong(&storage.tensor_slot, &known, made)) known = std::move(made);
  }
  return *static_cast<Slot*>(known.get());
}

Slot* find_slot(const novaphy::Storage& storage) noexcept {
  return static_cast<Slot*>(std::atomic_load_explicit(&storage.tensor_slot, std::memory_order_acquire).get());
}

}  // namespace nova
