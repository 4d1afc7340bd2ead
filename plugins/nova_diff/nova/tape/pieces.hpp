// SPDX-License-Identifier: Apache-2.0
// Which record wrote which bytes of an array last, kept for arrays that are used in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/nova/program.hpp"

namespace nova {

struct ByteRange {
  std::size_t begin = 0, end = 0;  ///< bytes
  bool overlaps(ByteRange other) const noexcept { return begin < other.end && other.begin < end; }
  bool covers(ByteRange other) const noexcept { return begin <= other.begin && other.end <= end; }
};

struct Piece {
  ByteRange range;
  std::uint32_t writer = kNone;  ///< record that wrote it last
  bool read_first = false;       ///< its value from before the recording was read
};

/// Consecutive pieces that together cover the array.
class Pieces {
 public:
  Pieces(std::size_t bytes, std::uint32_t writer, bool read_first)
      : pieces_{{{0, bytes}, writer, read_first}} {}
  void write(ByteRange range, std::uint32_t writer);
  /// Returns whether some of it had no writer.
  bool read(ByteRange range);
  std::uint32_t last_writer(ByteRange range) const;
  /// Those that share bytes with `range`.
  std::span<const Piece> within(ByteRange range) const;

 private:
  std::size_t first_after(std::size_t byte) const;
  std::size_t cut(std::size_t byte);
  std::vector<Piece> pieces_;
};

}  // namespace nova
