// SPDX-License-Identifier: Apache-2.0
// Programs of others: what module `nova` publishes as novaphy.x.INova/1.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "novaphy/nova.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {

class BytePrograms final : public novaphy::INova {
 public:
  novaphy::ProgramId compile(std::span<const std::byte> program) override;
  void launch(novaphy::ProgramId program, const novaphy::LaunchArgs& args) override;
  std::string text(novaphy::ProgramId program) const override;
  std::uint64_t active_tape() const noexcept override;

 private:
  struct Entry {
    std::vector<std::byte> bytes;
    Kernel kernel;
  };
  const Kernel& kernel(novaphy::ProgramId program, const char* who) const;
  std::size_t find(std::uint64_t hash, std::span<const std::byte> bytes) const;

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // an id is the number of its entry, from 1
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
};

}  // namespace nova
