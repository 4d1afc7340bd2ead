// SPDX-License-Identifier: Apache-2.0
// The contact records of each particle, in record order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy {

/// Sorts the records of a Contacts by particle, stably, so that particles can be worked on in parallel and
/// each still sums its forces in record order. Sorted once per content of the records.
class NOVAPHY_API ParticleContacts {
 public:
  /// Throws Error(index) for a record of a particle or shape that the model does not have.
  void update(const Model& model, const Contacts& contacts);
  /// Records of one particle, ascending.
  std::span<const std::int32_t> of(std::size_t particle) const {
    const auto first = static_cast<std::size_t>(first_[particle]),
               last = static_cast<std::size_t>(first_[particle + 1]);
    return {records_.data() + first, last - first};
  }

 private:
  bool is_current(const Contacts& contacts) const;
  std::vector<std::int32_t> first_, records_;
  std::shared_ptr<Storage> count_storage_, particle_storage_,
      shape_storage_;  // of the records that were sorted
  std::uint64_t count_version_ = 0, particle_version_ = 0, shape_version_ = 0;
};

}  // namespace novaphy
