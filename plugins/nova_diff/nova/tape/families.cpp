// SPDX-License-Identifier: Apache-2.0
// Regions on a tape: what a write through one of them means for its root and for the regions beside it.
#include <algorithm>
#include <cstring>

#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {

using novaphy::Storage;

// The root of `at` and its regions that share bytes with `at`, without `at` itself.
template <class Action>
void TapeState::for_each_relative(std::uint32_t at, Action action) const {
  const std::uint32_t root = arrays[at].root;
  if (arrays[root].family == kNone) return;
  const Family& family = families[arrays[root].family];
  const ByteRange range = arrays[at].range();
  if (root != at) action(root);
  const std::size_t first = range.begin > family.longest ? range.begin - family.longest : 0;
  for (auto region = family.regions.lower_bound({first, 0});
       region != family.regions.end() && region->first.first < range.end; ++region)
    if (region->second != at && arrays[region->second].range().overlaps(range)) action(region->second);
}

// A region that was not met before: what the recording has written there through others is its content,
// provided that nobody else has written the root since.
void TapeState::join_family(std::uint32_t at, std::uint64_t raised) {
  const std::shared_ptr<Storage> storage = arrays[at].storage;  // array_of moves the arrays
  const std::uint32_t root_at = array_of(storage->root(), raised);
  TapeArray &root = arrays[root_at], &array = arrays[at];
  array.root = root_at;
  if (root.family == kNone) {
    root.family = static_cast<std::uint32_t>(families.size());
    families.push_back({Pieces(root.storage->bytes(), root.last_writer, root.starts_as_input)});
  }
  Family& family = families[root.family];
  family.regions.emplace(std::pair(storage->offset(), storage->bytes()), at);
  family.longest = std::max(family.longest, storage->bytes());

  array.last_writer = family.pieces.last_writer(array.range());
  const bool root_is_clean = root.last_writer == kNone || is_clean(root_at, raised);
  if (array.last_writer != kNone)
    array.written_version = root_is_clean ? storage->version() - raised : kNoVersion;
  else if (root.last_writer != kNone && root_is_clean && !root.tainted)
    storage->set_recording(0);  // the region took it over from writes to other parts
}

// `at` is being written: dirty relatives stay dirty unless all of them is overwritten.
void TapeState::write_family(std::uint32_t at, std::uint32_t record) {
  const ByteRange range = arrays[at].range();
  families[arrays[arrays[at].root].family].pieces.write(range, record);
  for_each_relative(at, [&](std::uint32_t other) {
    TapeArray& relative = arrays[other];
    if (relative.last_writer == kNone && relative.storage->recording() == serial) relative.tainted = true;
    if (relative.last_writer == kNone || is_clean(other, 1) || range.covers(relative.range()))
      relative.written_version = relative.storage->version();
    relative.last_writer = record;
    relative.written_hash.reset();
  });
}

void TapeState::note_content(const Storage& storage) {
  const std::uint32_t at = find(&storage);
  arrays[at].written_hash = content_hash(storage);
  for_each_relative(at, [&](std::uint32_t other) {
    TapeArray& relative = arrays[other];
    if (arrays[at].range().covers(relative.range())) relative.written_hash = content_hash(*relative.storage);
  });
}

// Of escaped memory. What was written in parts is compared by the arrays through which it was written.
bool TapeState::holds_what_was_written(std::uint32_t at) const {
  const TapeArray& array = arrays[at];
  if (array.written_hash) return content_hash(*array.storage) == *array.written_hash;
  const std::uint32_t family = arrays[array.root].family;
  if (family == kNone) return false;
  const auto written = families[family].pieces.within(array.range());
  return std::all_of(written.begin(), written.end(), [&](const Piece& piece) {
    bool holds = piece.writer == kNone;
    for_each_relative(at, [&](std::uint32_t other) {
      const TapeArray& part = arrays[other];
      if (!holds && part.written_hash && part.range().covers(piece.range))
        holds = content_hash(*part.storage) == *part.written_hash;
    });
    return holds;
  });
}

bool TapeState::was_written_outside(const Storage& storage) const {
  const std::uint32_t at = find(&storage);
  if (at == kNone || arrays[at].last_writer == kNone) return false;
  if (!is_clean(at)) return true;
  return storage.escaped() && arrays[at].written_hash && content_hash(storage) != *arrays[at].written_hash;
}

std::vector<Piece> TapeState::pieces_of(const TapeArray& root, ByteRange range) const {
  if (root.family == kNone) return {{root.range(), root.last_writer, root.starts_as_input}};
  const auto within = families[root.family].pieces.within(range);
  std::vector<Piece> out(within.begin(), within.end());
  for (Piece& piece : out)
    piece.range = {std::max(piece.range.begin, range.begin), std::min(piece.range.end, range.end)};
  return out;
}

void TapeState::save_overwritten(const std::shared_ptr<Storage>& storage) {
  const std::uint32_t at = array_of(storage);
  save(at);
  for_each_relative(at, [&](std::uint32_t other) { save(other); });
}

// An escaped array that somebody else has changed since is not saved: backward then refuses the use.
void TapeState::save(std::uint32_t at) {
  const TapeArray& array = arrays[at];
  const std::uint64_t version = array.storage->version();
  if (array.needed_version != version || saved.count({at, version}) > 0) return;
  if (array.storage->escaped()) {
    const auto read = std::find_if(hashes.rbegin(), hashes.rend(),
                                   [&](const HashedUse& hashed) { return uses[hashed.use].array == at; });
    if (read == hashes.rend() || content_hash(*array.storage) != read->hash) return;
  }
  auto copy = Storage::allocate(array.storage->device(), array.storage->bytes());
  std::memcpy(copy->data_without_version(), array.storage->data(), array.storage->bytes());
  saved.emplace(std::pair(at, version), std::move(copy));
}

const void* TapeState::value_of(const Use& use) const {
  const TapeArray& array = arrays[use.array];
  if (!saved.empty() && use.version != array.storage->version())
    if (const auto copy = saved.find({use.array, use.version}); copy != saved.end()) return copy->second->data();
  return array.released ? nullptr : array.storage->data();
}

}  // namespace nova
