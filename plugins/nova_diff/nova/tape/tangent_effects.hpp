// SPDX-License-Identifier: Apache-2.0
// Memory with tangents: what Nova does to memory is done to the tangents of that memory as well.
//
// Tangents live beside the memory that they belong to, by address, and an absent one is zero. Along a closed
// recording they are carried forward launch by launch; a backward that runs under these effects carries those
// of its cotangents too, which makes products with Hessians without a second implementation of backward.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"

namespace nova {

class TangentEffects final : public Effects {
 public:
  TangentEffects() : before_(&now()) { replace(this); }
  ~TangentEffects() { replace(before_); }
  TangentEffects(const TangentEffects&) = delete;
  TangentEffects& operator=(const TangentEffects&) = delete;

  /// Makes [memory, memory + bytes) known, with the tangent zero unless it has one.
  void add(const void* memory, std::size_t bytes);
  /// The tangent at an address; null = zero, or not known.
  const float* find(const void* memory) const;
  /// The same, made of zeros where there is none. The address must be known.
  float* make(const void* memory);
  /// Carries the tangents of a recorded launch from its inputs to its outputs.
  void carry(const TapeState& tape, std::uint32_t record);
  /// Where the tangent of an array on the tape belongs: its memory, or a place that stands for it when that
  /// was given back.
  const void* address_of(const TapeState& tape, std::uint32_t array);
  /// A gradient that a backward under these effects would have stored; the stored ones stay as they are.
  struct Gradient {
    std::vector<float> value, tangent;
  };
  /// Null where backward found no path to the array.
  const Gradient* gradient(const novaphy::Storage& array) const;

  // A backward runs here.
  void run(const KernelRun& kernel) override;
  void run(const CustomRun& custom) override;
  void zero(void* to, std::size_t bytes) override;
  void set(float* to, float value) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void store_gradient(const std::shared_ptr<novaphy::Storage>& array, const float* cotangent, GradientStore how,
                      std::uint64_t recording) override;
  void drop_gradient(const std::shared_ptr<novaphy::Storage>&) override {}

 private:
  struct Block {
    std::size_t bytes = 0;
    std::vector<float> tangent;  ///< empty = zero
  };
  const Block* block_of(const void* memory, std::size_t& offset) const;
  void clear(const void* memory, std::size_t bytes);
  const void* value_of(const TapeState& tape, const Use& use, const float*& tangent);
  float* written_tangent(const TapeState& tape, std::uint32_t array, bool moves, bool adds);

  Effects* const before_;
  std::map<const std::byte*, Block> blocks_;
  std::map<const novaphy::Storage*, Gradient> gradients_;
  std::map<std::uint32_t, std::unique_ptr<std::byte[]>> stand_ins_;  ///< by array; never read or written
};

}  // namespace nova
