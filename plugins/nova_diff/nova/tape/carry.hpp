// SPDX-License-Identifier: Apache-2.0
// Cotangents on their way from one recording to the recording of the steps before it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nova/tape/tape_state.hpp"

namespace nova {

/// Buffers of the tape's pool, one an array. They are as long as the array.
class CotangentCarry {
 public:
  struct Entry {
    std::shared_ptr<novaphy::Storage> array;
    float* cotangent = nullptr;
  };
  /// Takes the cotangent of an array out; null when there is none.
  float* take(const novaphy::Storage* array);
  void put(std::shared_ptr<novaphy::Storage> array, float* cotangent);
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::vector<Entry> entries_;
};

/// Backward over a recording that is a part of a longer one: begins with the cotangents in `carry` and with 1
/// for each of the `losses`, and leaves in `carry` those of everything that the recording read and did not
/// make. `starts` are arrays whose values the part before makes, so they are differentiated as if wanted.
/// Checks versions first; stores no gradient of what it did not make.
void run_backward_part(TapeState& tape, std::span<const Tensor> losses, CotangentCarry& carry,
                       std::span<const std::shared_ptr<novaphy::Storage>> starts);

}  // namespace nova
