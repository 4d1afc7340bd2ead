// SPDX-License-Identifier: Apache-2.0
// Recording: one Use per argument, versions noted as they are.
#include <functional>

#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {

std::uint32_t TapeState::find(const novaphy::Storage* storage) const noexcept {
  const std::uint32_t at = table.find(storage);
  return at != kNone && arrays[at].storage.get() == storage ? at : kNone;
}

std::uint32_t TapeState::array_of(const std::shared_ptr<novaphy::Storage>& storage, std::uint64_t raised) {
  std::uint32_t& place = table.at(storage.get());
  if (place != kNone && arrays[place].storage == storage) return place;  // else of one that was given back
  const auto at = static_cast<std::uint32_t>(arrays.size());
  place = at;
  TapeArray& array = arrays.emplace_back();
  array.storage = storage;
  array.root = at;
  if (storage->root()) {
    join_family(at, raised);
  } else {
    array.tainted = storage->recording() == serial;
    has_external_ |= storage->is_external();
    if (has_external_) find_overlaps(at);
  }
  return at;
}

// Only memory of another library can lie under two storages.
void TapeState::find_overlaps(std::uint32_t at) {
  const auto begin = [](const TapeArray& array) {
    return static_cast<const std::byte*>(array.storage->data());
  };
  const auto end = [&](const TapeArray& array) { return begin(array) + array.storage->bytes(); };
  const std::less<> before;
  for (std::uint32_t other = 0; other < at; ++other)
    if (!arrays[other].released && !arrays[other].storage->root() && before(begin(arrays[at]), end(arrays[other])) &&
        before(begin(arrays[other]), end(arrays[at])))
      overlaps.emplace_back(other, at);
}

void TapeState::begin_record(const std::shared_ptr<const Kernel::Compiled>& kernel, std::int64_t rows,
                             std::int64_t domain) {
  settle();
  Record& record = records.emplace_back();
  record.kernel = kernel;
  record.title = record_title();
  record.signature = kernel.get();
  record.rows = rows, record.domain = domain;
  record.first_use = uses.size();
  record.values_needed = kernel->values_needed();
}

void TapeState::begin_record(std::shared_ptr<const Custom> custom, std::uint64_t values_needed) {
  settle();
  Record& record = records.emplace_back();
  record.signature = &custom->signature;
  record.custom = std::move(custom);
  record.title = record_title();
  record.first_use = uses.size();
  record.values_needed = values_needed;
}

// Reads the array, whose version should be `version` if the last launch that wrote it was the last writer.
void TapeState::check_unseen(std::uint32_t at, std::uint64_t version, std::uint32_t reader) {
  const TapeArray& array = arrays[at];
  if (array.last_writer == kNone || unseen.array != kNone) return;
  if (array.written_version != version) {
    unseen = {at, array.last_writer, reader};
  } else if (array.storage->escaped() && !holds_what_was_written(at)) {
    unseen = {at, array.last_writer, reader, !array.written_hash};
  }
}

void TapeState::note_input(const std::shared_ptr<novaphy::Storage>& storage, std::size_t argument) {
  if (!storage) return note_number(0);
  const std::uint32_t at = array_of(storage);
  TapeArray& array = arrays[at];
  const std::uint64_t version = storage->version();
  const auto record = static_cast<std::uint32_t>(records.size() - 1);
  check_unseen(at, version, record);
  const bool differentiable = records.back().signature->differentiable >> argument & 1;
  if (differentiable && array.last_writer == kNone && storage->recording() == serial &&
      unseen_origin.array == kNone)
    unseen_origin = {at, record};
  mark_read(at);
  if (records.back().values_needed >> argument & 1) {
    array.needed_version = version;
    if (storage->escaped()) {
      hashes.push_back({uses.size(), content_hash(*storage)});
    } else if (array.read_unhashed == kNoUse) {
      array.read_unhashed = uses.size();
    }
  }
  uses.push_back({at, 0, version});
}

void TapeState::mark_read(std::uint32_t at) {
  const TapeArray& array = arrays[at];
  TapeArray& root = arrays[array.root];
  if (root.family == kNone)
    root.starts_as_input |= root.last_writer == kNone;
  else
    root.starts_as_input |= families[root.family].pieces.read(array.range());
}

void TapeState::note_output(const std::shared_ptr<novaphy::Storage>& storage, std::size_t output) {
  if (!storage) return note_number(0);
  const std::uint32_t at = array_of(storage, 1);
  TapeArray& array = arrays[at];
  const std::uint64_t version = storage->version();
  const auto record = static_cast<std::uint32_t>(records.size() - 1);
  if (records.back().signature->adding_outputs >> output & 1) {
    check_unseen(at, version - 1, record);
    mark_read(at);
  }
  if (arrays[array.root].family != kNone) write_family(at, record);
  if (array.last_writer == kNone && storage->bytes() >= least_bytes_given_back()) made_.push_back(at);
  array.written_version = version;
  array.written_hash.reset();
  array.last_writer = record;
  storage->set_recording(serial);
  uses.push_back({at, 0, version});
}

void TapeState::reset() {
  drop_records();
  pool.clear();
}

void TapeState::drop_records() {
  arrays.clear(), uses.clear(), records.clear(), hashes.clear(), overlaps.clear();
  families.clear(), saved.clear();
  table.clear();
  made_.clear(), settled_ = 0, look_at_ = kFirstLook;
  unseen = {}, unseen_origin = {}, report = {};
  first_of_block = 0, has_external_ = false;
}

}  // namespace nova
