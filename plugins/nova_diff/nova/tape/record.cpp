// SPDX-License-Identifier: Apache-2.0
// Recording: one Use per argument, versions noted as they are.
#include <functional>

#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {

std::size_t ArrayTable::start(const novaphy::Storage* key) const noexcept {
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
  return static_cast<std::size_t>((bits >> 4) * 0x9E3779B97F4A7C15ull >> 32) & (cells_.size() - 1);
}

std::uint32_t ArrayTable::find(const novaphy::Storage* key) const noexcept {
  if (cells_.empty()) return kNone;
  for (std::size_t i = start(key);; i = (i + 1) & (cells_.size() - 1)) {
    if (cells_[i].key == key) return cells_[i].index;
    if (cells_[i].key == nullptr) return kNone;
  }
}

std::uint32_t& ArrayTable::at(const novaphy::Storage* key) {
  if (2 * used_ >= cells_.size()) grow();
  for (std::size_t i = start(key);; i = (i + 1) & (cells_.size() - 1)) {
    if (cells_[i].key == key) return cells_[i].index;
    if (cells_[i].key == nullptr) {
      ++used_;
      cells_[i].key = key;
      return cells_[i].index;
    }
  }
}

void ArrayTable::grow() {
  std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
  old.swap(cells_);
  for (const Cell& cell : old) {
    if (cell.key == nullptr) continue;
    std::size_t i = start(cell.key);
    while (cells_[i].key != nullptr) i = (i + 1) & (cells_.size() - 1);
    cells_[i] = cell;
  }
}

std::uint32_t TapeState::array_of(const std::shared_ptr<novaphy::Storage>& storage, bool as_input) {
  std::uint32_t& place = table.at(storage.get());
  if (place == kNone) {
    place = static_cast<std::uint32_t>(arrays.size());
    TapeArray& array = arrays.emplace_back();
    array.storage = storage;
    array.starts_as_input = as_input;
    has_external_ |= storage->is_external();
    if (has_external_) find_overlaps(place);
  }
  return place;
}

// Only memory of another library can lie under two storages.
void TapeState::find_overlaps(std::uint32_t at) {
  const auto begin = [](const TapeArray& array) {
    return static_cast<const std::byte*>(array.storage->data());
  };
  const auto end = [&](const TapeArray& array) { return begin(array) + array.storage->bytes(); };
  const std::less<> before;
  for (std::uint32_t other = 0; other < at; ++other)
    if (before(begin(arrays[at]), end(arrays[other])) && before(begin(arrays[other]), end(arrays[at])))
      overlaps.emplace_back(other, at);
}

void TapeState::begin_record(const std::shared_ptr<const Kernel::Compiled>& kernel, std::int64_t rows,
                             std::int64_t domain) {
  Record& record = records.emplace_back();
  record.kernel = kernel;
  record.signature = kernel.get();
  record.rows = rows, record.domain = domain;
  record.first_use = uses.size();
  record.values_needed = kernel->values_needed();
}

void TapeState::begin_record(std::shared_ptr<const Custom> custom, std::uint64_t values_needed) {
  Record& record = records.emplace_back();
  record.signature = &custom->signature;
  record.custom = std::move(custom);
  record.first_use = uses.size();
  record.values_needed = values_needed;
}

void TapeState::drop_last_record() {
  const std::size_t first = records.back().first_use;
  const auto dropped = static_cast<std::uint32_t>(records.size() - 1);
  for (; uses.size() > first; uses.pop_back())
    if (const std::uint32_t at = uses.back().array;
        at != kNone && arrays[at].read_unhashed == uses.size() - 1)
      arrays[at].read_unhashed = kNoUse;
  while (!hashes.empty() && hashes.back().use >= first) hashes.pop_back();
  if (unseen.reader == dropped) unseen = {};
  if (unseen_origin.reader == dropped) unseen_origin = {};
  records.pop_back();
}

// Reads `array`, whose version should be `version` if the last launch that wrote it was the last writer.
void TapeState::check_unseen(std::uint32_t at, std::uint64_t version, std::uint32_t reader) {
  const TapeArray& array = arrays[at];
  if (array.last_writer == kNone || unseen.array != kNone) return;
  if (array.written_version != version) {
    unseen = {at, array.last_writer, reader};
  } else if (array.storage->escaped()) {
    if (!array.written_hash || content_hash(*array.storage) != *array.written_hash)
      unseen = {at, array.last_writer, reader, !array.written_hash};
  }
}

void TapeState::note_input(const std::shared_ptr<novaphy::Storage>& storage, std::size_t argument) {
  if (!storage) return note_number(0);
  const std::uint32_t at = array_of(storage, true);
  TapeArray& array = arrays[at];
  const std::uint64_t version = storage->version();
  const auto record = static_cast<std::uint32_t>(records.size() - 1);
  check_unseen(at, version, record);
  const bool differentiable = records.back().signature->differentiable >> argument & 1;
  if (differentiable && array.last_writer == kNone && storage->recording == serial &&
      unseen_origin.array == kNone)
    unseen_origin = {at, record};
  if (records.back().values_needed >> argument & 1) {
    if (storage->escaped()) {
      hashes.push_back({uses.size(), content_hash(*storage)});
    } else if (array.read_unhashed == kNoUse) {
      array.read_unhashed = uses.size();
    }
  }
  uses.push_back({at, 0, version});
}

void TapeState::note_output(const std::shared_ptr<novaphy::Storage>& storage, std::size_t output) {
  if (!storage) return note_number(0);
  const bool adds = records.back().signature->adding_outputs >> output & 1;
  const std::uint32_t at = array_of(storage, adds);
  TapeArray& array = arrays[at];
  const std::uint64_t version = storage->version();
  const auto record = static_cast<std::uint32_t>(records.size() - 1);
  if (adds) check_unseen(at, version - 1, record);
  array.written_version = version;
  array.written_hash.reset();
  array.last_writer = record;
  storage->recording = serial;
  uses.push_back({at, 0, version});
}

void TapeState::note_content(const novaphy::Storage& storage) {
  arrays[table.find(&storage)].written_hash = content_hash(storage);
}

bool TapeState::was_written_outside(const novaphy::Storage& storage) const {
  const std::uint32_t at = table.find(&storage);
  if (at == kNone || arrays[at].last_writer == kNone) return false;
  if (arrays[at].written_version != storage.version()) return true;
  return storage.escaped() && arrays[at].written_hash && content_hash(storage) != *arrays[at].written_hash;
}

void TapeState::reset() {
  arrays.clear(), uses.clear(), records.clear(), hashes.clear(), overlaps.clear();
  table.clear(), pool.clear();
  unseen = {}, unseen_origin = {}, report = {};
  first_of_block = 0, has_external_ = false;
}

}  // namespace nova
