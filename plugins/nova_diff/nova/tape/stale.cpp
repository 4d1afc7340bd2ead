// SPDX-License-Identifier: Apache-2.0
// Finds values that backward needs and that have been overwritten, and says who did it.
#include <string>

#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {

std::string launch_text(const TapeState& tape, std::uint32_t record) {
  const Record& r = tape.records[record];
  return r.title ? novaphy::text("launch ", record, " (", *r.title, ": ", r.name(), ")")
                 : novaphy::text("launch ", record, " (", r.name(), ")");
}

namespace {

using novaphy::ErrorKind;
using novaphy::fail;

const char* advice(const TapeState& tape, const novaphy::Storage& storage, std::uint32_t reader,
                   bool by_launch) {
  if (reader < tape.first_of_block)
    return "That launch is of an earlier 'with' block; reset the tape before recording again, or make a "
           "new one.";
  if (std::string_view(storage.label().owner) == "state") {
    if (storage.label().name == "particle_f" || storage.label().name == "body_f")
      return "A step leaves the total force there; read a clone() made before the step, and keep one state "
             "per substep.";
    if (by_launch)
      return "Keep one state per substep, or use novaphy.diff.Rollout, or Tape(on_overwrite=\"save\").";
  }
  if (by_launch) return "Write into another array, or use Tape(on_overwrite=\"save\").";
  return "Leave it unchanged until backward, or record again.";
}

// The launch that first wrote the array after `version`, kNone when something else did.
std::uint32_t culprit(const TapeState& tape, std::uint32_t array, std::uint64_t version,
                      std::uint32_t reader) {
  for (std::uint32_t r = 0; r < tape.records.size(); ++r) {
    const Record& record = tape.records[r];
    for (std::size_t k = 0; k < record.signature->outputs; ++k) {
      const Use& use = tape.uses[record.first_use + record.signature->inputs + k];
      if (use.array == array && use.version == version + 1) return r;
      const bool through_another = use.array != kNone && use.array != array && r >= reader;
      if (through_another && tape.overlap(use.array, array)) return r;
    }
  }
  return kNone;
}

[[noreturn]] void raise(const TapeState& tape, std::uint32_t record, const Use& use) {
  const novaphy::Storage& storage = *tape.arrays[use.array].storage;
  const std::uint32_t writer = culprit(tape, use.array, use.version, record);
  const std::string where =
      writer == kNone ? "outside of the recording" : novaphy::text("at ", launch_text(tape, writer));
  fail(ErrorKind::stale_record, "Tape: ", to_string(storage.label()), " was written ", where, " after ",
       launch_text(tape, record), " had read it; its old values are gone. ",
       advice(tape, storage, record, writer != kNone));
}

bool changed(const TapeState& tape, const Record& record) {
  std::uint64_t difference = 0;
  const std::size_t inputs = record.signature->inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    const Use& use = tape.uses[record.first_use + i];
    if (use.array != kNone && (record.values_needed >> i & 1) && !tape.arrays[use.array].released)
      difference |= use.version ^ tape.arrays[use.array].storage->version();
  }
  return difference != 0;
}

void check_record(const TapeState& tape, std::uint32_t r) {
  const Record& record = tape.records[r];
  if (!changed(tape, record)) return;
  for (std::size_t i = 0; i < record.signature->inputs; ++i) {
    const Use& use = tape.uses[record.first_use + i];
    if (use.array == kNone || !(record.values_needed >> i & 1) || tape.arrays[use.array].released) continue;
    if (use.version != tape.arrays[use.array].storage->version() && !tape.is_saved(use)) raise(tape, r, use);
  }
}

std::uint32_t record_of(const TapeState& tape, std::size_t use) {
  std::uint32_t r = 0;
  while (r + 1 < tape.records.size() && tape.records[r + 1].first_use <= use) ++r;
  return r;
}

void check_unseen_write(const TapeState& tape) {
  if (tape.unseen.array == kNone) return;
  const std::string array = to_string(tape.arrays[tape.unseen.array].storage->label());
  const std::string between =
      novaphy::text(" between ", launch_text(tape, tape.unseen.writer), ", which wrote it, and ",
                    launch_text(tape, tape.unseen.reader), ", which read it");
  if (tape.unseen.view_taken)
    fail(ErrorKind::stale_record, "Tape: a writable view of ", array, " was taken", between,
         ", so what was read cannot be trusted. Take the view before recording, or after backward.");
  fail(ErrorKind::stale_record, "Tape: ", array, " was written outside of the recording", between,
       "; the tape cannot see that write. Write with novaphy.diff.assign, or into another array.");
}

// Constants may overlap.
void check_overlaps(const TapeState& tape) {
  for (const auto& [first, second] : tape.overlaps) {
    const TapeArray &a = tape.arrays[first], &b = tape.arrays[second];
    const auto matters = [](const TapeArray& array) {
      return array.last_writer != kNone || array.storage->requires_grad();
    };
    if (!matters(a) && !matters(b)) continue;
    fail(ErrorKind::value, "Tape: ", to_string(a.storage->label()), " and ", to_string(b.storage->label()),
         " lie over the same memory, so the tape cannot tell what a launch reads through one of them after a "
         "write through the other. Use one tensor for that memory.");
  }
}

}  // namespace

void check_versions(const TapeState& tape) {
  if (tape.unseen_origin.array != kNone)
    fail(ErrorKind::stale_record, "Tape: ", to_string(tape.arrays[tape.unseen_origin.array].storage->label()),
         " was copied or computed from values of this recording beside the tape, and ",
         launch_text(tape, tape.unseen_origin.reader),
         " read it; the gradient would end there. Record it (DiffSemiImplicitSolver, novaphy.diff.assign, "
         "Tensor.clone), or cut it on purpose (Tensor.detach, nova.no_grad).");
  check_unseen_write(tape);
  check_overlaps(tape);
  for (std::uint32_t r = 0; r < tape.records.size(); ++r) check_record(tape, r);
  for (const TapeArray& array : tape.arrays) {
    if (array.read_unhashed == kNoUse || !array.storage->escaped()) continue;
    fail(ErrorKind::stale_record, "Tape: a writable view of ", to_string(array.storage->label()),
         " was taken after ", launch_text(tape, record_of(tape, array.read_unhashed)),
         " had read it, so its old values cannot be trusted. ",
         "Take the view before recording, or after backward.");
  }
  for (const HashedUse& hashed : tape.hashes) {
    const Use& use = tape.uses[hashed.use];
    const novaphy::Storage& storage = *tape.arrays[use.array].storage;
    if (tape.is_saved(use) || content_hash(storage) == hashed.hash) continue;
    fail(ErrorKind::stale_record, "Tape: ", to_string(storage.label()),
         " was changed through a writable view after ", launch_text(tape, record_of(tape, hashed.use)),
         " had read it; its old values are gone. ",
         advice(tape, storage, record_of(tape, hashed.use), false));
  }
}

}  // namespace nova
