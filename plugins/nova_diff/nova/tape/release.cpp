// SPDX-License-Identifier: Apache-2.0
// Which values a tape keeps: those that wanted derivatives read. What else it made is given back as soon as
// nobody holds it.
#include "nova/tape/tape_state.hpp"

namespace nova {

using novaphy::Storage;

std::size_t& least_bytes_given_back() noexcept {
  static std::size_t bytes = 4096;
  return bytes;
}

// Forward over the records: a root flows when its present value depends on an array that wants its gradient.
// A write to a part of it can start that and not end it. What is made from integers that depend on such an array
// flows too, so that backward comes to the place where it must refuse.
void TapeState::follow(std::uint32_t index) {
  Record& record = records[index];
  const LaunchSignature& signature = *record.signature;
  const Use* const in = uses.data() + record.first_use;
  const Use* const out = in + signature.inputs;
  record.wanted = 0;
  std::uint32_t cut = kNone;
  for (std::size_t i = 0; i < signature.inputs; ++i) {
    if (in[i].array == kNone) continue;
    const TapeArray& root = arrays[arrays[in[i].array].root];
    if (!(signature.float_inputs >> i & 1) && root.cut_by != kNone) cut = root.cut_by;
    if (!(signature.differentiable >> i & 1)) continue;
    if (root.flows || root.carried || root.storage->requires_grad()) record.wanted |= std::uint64_t{1} << i;
  }
  for (std::size_t k = 0; k < signature.outputs; ++k) {
    if (out[k].array == kNone) continue;
    TapeArray& root = arrays[arrays[out[k].array].root];
    const bool is_part = arrays[out[k].array].root != out[k].array;
    const bool is_real = signature.float_outputs >> k & 1;
    const bool keeps_old = is_part || (signature.adding_outputs >> k & 1);
    root.flows = is_real && (record.wanted != 0 || cut != kNone || (keeps_old && root.flows));
    if (is_real || (record.wanted == 0 && cut == kNone && !is_part)) root.cut_by = kNone;
    if (!is_real && record.wanted == 0 && cut != kNone) root.cut_by = cut;
    if (!is_real && record.wanted != 0) root.cut_by = index;
  }
}

void TapeState::settle() {
  if (keep_values || capture != 0) return;
  for (; settled_ < records.size(); ++settled_) {
    follow(settled_);
    const Record& record = records[settled_];
    if (record.wanted == 0) continue;
    const std::uint64_t needed = record.kernel ? record.kernel->values_needed(record.wanted) : record.values_needed;
    for (std::size_t i = 0; i < record.signature->inputs; ++i) {
      const std::uint32_t at = uses[record.first_use + i].array;
      if (at != kNone && (needed >> i & 1)) arrays[arrays[at].root].value_wanted = true;
    }
  }
  if (made_.size() >= look_at_) give_back_unneeded();
}

// A storage without memory of its own stands for one that was given back, with its size and its name.
void TapeState::give_back_unneeded() {
  std::size_t left = 0;
  for (const std::uint32_t at : made_) {
    TapeArray& array = arrays[at];
    const Storage& storage = *array.storage;
    if (array.root != at || array.family != kNone || array.value_wanted || array.starts_as_input ||
        storage.requires_grad() || storage.escaped())
      continue;
    if (array.storage.use_count() > 1) {
      made_[left++] = at;
      continue;
    }
    static std::byte nowhere;
    auto stand_in = Storage::wrap(&nowhere, storage.bytes(), storage.device(), nullptr, false);
    stand_in->set_label(storage.label());
    array.storage = std::move(stand_in);
    array.released = true;
  }
  made_.resize(left);
  look_at_ = 2 * left + kFirstLook;  // so that an array that is held for long is looked at seldom
}

void TapeState::require_values(std::uint32_t index, std::uint64_t inputs) const {
  const Record& record = records[index];
  for (std::size_t i = 0; i < record.signature->inputs; ++i) {
    const Use& use = uses[record.first_use + i];
    if (use.array == kNone || !(inputs >> i & 1) || !is_released(use)) continue;
    novaphy::fail(novaphy::ErrorKind::stale_record, "Tape: ", to_string(arrays[use.array].storage->label()),
                  " was given back after ", launch_text(*this, index),
                  " had read it, since no derivative that was wanted while recording needs its values. Set "
                  "requires_grad before the recording, or use Tape(keep_values=True).");
  }
}

}  // namespace nova
