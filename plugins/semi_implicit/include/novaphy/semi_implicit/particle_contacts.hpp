// SPDX-License-Identifier: Apache-2.0
// The contact records of each particle, in record order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy {

/// Remembers which content of a Contacts' record list was looked at.
class NOVAPHY_API SeenRecords {
 public:
  /// Whether that content is still there. Never, where somebody can write it unseen.
  bool is_current(const Contacts& contacts) const;
  void note(const Contacts& contacts);

 private:
  struct Seen {
    std::shared_ptr<Storage> storage;
    std::uint64_t version = 0;
  };
  std::array<Seen, 4> seen_{};
  bool noted_ = false;
};

/// Throws Error(index) for a record of a particle or shape that the model does not have.
NOVAPHY_API void check_records(const Contacts& contacts);

/// Sorts the records of a Contacts by particle, stably, so that particles can be worked on in parallel and
/// each still sums its forces in record order. Sorted once per content of the records.
class NOVAPHY_API ParticleContacts {
 public:
  /// Throws as check_records().
  void update(const Contacts& contacts);
  /// Records of one particle, ascending.
  std::span<const std::int32_t> of(std::size_t particle) const {
    const auto first = static_cast<std::size_t>(first_[particle]),
               last = static_cast<std::size_t>(first_[particle + 1]);
    return {records_.data() + first, last - first};
  }

 private:
  std::vector<std::int32_t> first_, records_;
  SeenRecords sorted_;
};

}  // namespace novaphy
