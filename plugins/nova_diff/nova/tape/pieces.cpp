// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/pieces.hpp"

#include <algorithm>

namespace nova {

// The first piece that ends after `byte`.
std::size_t Pieces::first_after(std::size_t byte) const {
  const auto at = std::upper_bound(pieces_.begin(), pieces_.end(), byte,
                                   [](std::size_t b, const Piece& piece) { return b < piece.range.end; });
  return static_cast<std::size_t>(at - pieces_.begin());
}

// Makes a piece begin at `byte` and returns its place.
std::size_t Pieces::cut(std::size_t byte) {
  const std::size_t at = first_after(byte);
  if (at == pieces_.size() || pieces_[at].range.begin == byte) return at;
  Piece second = pieces_[at];
  pieces_[at].range.end = second.range.begin = byte;
  pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at) + 1, second);
  return at + 1;
}

void Pieces::write(ByteRange range, std::uint32_t writer) {
  const std::size_t first = cut(range.begin), last = cut(range.end);
  std::size_t kept = first;
  for (std::size_t i = first; i < last; ++i) {
    Piece piece = pieces_[i];
    piece.writer = writer;
    if (kept > first && pieces_[kept - 1].read_first == piece.read_first)
      pieces_[kept - 1].range.end = piece.range.end;
    else
      pieces_[kept++] = piece;
  }
  pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(kept),
                pieces_.begin() + static_cast<std::ptrdiff_t>(last));
}

bool Pieces::read(ByteRange range) {
  bool unwritten = false;
  for (const Piece& piece : within(range)) unwritten |= piece.writer == kNone;
  if (!unwritten) return false;
  const std::size_t first = cut(range.begin), last = cut(range.end);
  for (std::size_t i = first; i < last; ++i) pieces_[i].read_first |= pieces_[i].writer == kNone;
  return true;
}

std::uint32_t Pieces::last_writer(ByteRange range) const {
  std::uint32_t last = kNone;
  for (const Piece& piece : within(range))
    if (piece.writer != kNone && (last == kNone || piece.writer > last)) last = piece.writer;
  return last;
}

std::span<const Piece> Pieces::within(ByteRange range) const {
  const std::size_t first = first_after(range.begin);
  std::size_t last = first;
  while (last < pieces_.size() && pieces_[last].range.begin < range.end) ++last;
  return std::span(pieces_).subspan(first, last - first);
}

}  // namespace nova
