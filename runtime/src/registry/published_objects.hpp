// SPDX-License-Identifier: Apache-2.0
// What loaded modules offer. Any thread reads without waiting; one at a time writes.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace novaphy {

/// Each change makes a new map, and the old ones stay for readers that are still at it: there are as many as
/// loads, and no lock that a fork could leave behind.
class PublishedObjects {
 public:
  using Key = std::pair<std::string, std::string>;  ///< interface id, name
  using Map = std::map<Key, void*>;

  /// Null when nobody publishes it.
  void* find(const Key& key) const noexcept {
    const Map* now = current_.load(std::memory_order_acquire);
    if (now == nullptr) return nullptr;
    const auto at = now->find(key);
    return at == now->end() ? nullptr : at->second;
  }

  void add(const Map& objects) {
    auto next = copy();
    for (const auto& [key, object] : objects) next->insert_or_assign(key, object);
    replace(std::move(next));
  }
  void remove(const std::vector<Key>& keys) {
    auto next = copy();
    for (const Key& key : keys) next->erase(key);
    replace(std::move(next));
  }
  void clear() { replace(std::make_unique<Map>()); }

  /// Gives the memory back; nobody may be reading.
  void release() {
    current_.store(nullptr, std::memory_order_release);
    maps_.clear();
    maps_.shrink_to_fit();
  }

 private:
  std::unique_ptr<Map> copy() const {
    const Map* now = current_.load(std::memory_order_relaxed);
    return now == nullptr ? std::make_unique<Map>() : std::make_unique<Map>(*now);
  }
  void replace(std::unique_ptr<Map> next) {
    current_.store(next.get(), std::memory_order_release);
    maps_.push_back(std::move(next));
  }

  std::atomic<const Map*> current_{nullptr};
  std::vector<std::unique_ptr<const Map>> maps_;
};

}  // namespace novaphy
