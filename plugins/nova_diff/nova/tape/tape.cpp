// SPDX-License-Identifier: Apache-2.0
// Tape: opening, closing, backward's checks.
#include "novaphy/nova/tape.hpp"

#include <array>
#include <atomic>

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"
#include "novaphy/log.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::fail;

thread_local TapeState* open_tape = nullptr;  // may be closed already: by a Tape that ended on another thread
thread_local std::shared_ptr<TapeState> open_tape_owner;  // so that it lives as long as this thread knows it
thread_local int no_grad_depth = 0;

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

}  // namespace

TapeState* TapeState::active() noexcept {
  const bool records =
      no_grad_depth == 0 && open_tape != nullptr && open_tape->open.load(std::memory_order_relaxed);
  return records ? open_tape : nullptr;
}

namespace {

// Tells the rest of the engine what this thread records.
void announce() noexcept {
  const bool open = open_tape != nullptr && open_tape->open.load(std::memory_order_relaxed);
  novaphy::open_recording() = no_grad_depth > 0 ? novaphy::kNoRecording : open ? open_tape->serial : 0;
}

}  // namespace

struct Tape::State : TapeState {};

TapeState& state_of(Tape& tape) noexcept {
  return *tape.state_;
}

Tape::Tape(OnOverwrite on_overwrite, KeepValues keep) : state_(std::make_shared<State>()) {
  state_->on_overwrite = on_overwrite;
  state_->keep_values = keep == KeepValues::all;
  state_->serial = next_serial();
}

Tape::~Tape() {
  state_->open = false;
  if (open_tape != state_.get()) return;
  open_tape = nullptr, open_tape_owner.reset();
  announce();
}

void Tape::open() {
  NOVAPHY_REQUIRE(open_tape == nullptr || !open_tape->open, ErrorKind::generic,
                  "nova.Tape: this thread records on a tape already; close that one first");
  const std::uint64_t capture = Effects::now().capture();
  NOVAPHY_REQUIRE(state_->records.empty() || state_->capture == capture, ErrorKind::capture,
                  "nova.Tape: the tape holds launches from before the capture; reset it, or open a new one");
  NOVAPHY_REQUIRE(capture == 0 || state_->on_overwrite != OnOverwrite::save, ErrorKind::capture,
                  "nova.Tape: on_overwrite=\"save\" copies values at once, which a capture cannot; use \"error\" inside");
  NOVAPHY_REQUIRE(!state_->open.exchange(true), ErrorKind::generic,
                  "nova.Tape: another thread records on this tape; use one tape a thread");
  state_->first_of_block = state_->records.size();
  state_->capture = capture;
  Effects::now().opened(state_);
  open_tape = state_.get();
  open_tape_owner = state_;
  announce();
}

void Tape::close() {
  NOVAPHY_REQUIRE(open_tape == state_.get(), ErrorKind::generic,
                  "nova.Tape: this tape is not open on this thread");
  state_->settle();
  state_->open = false;
  open_tape = nullptr;
  open_tape_owner.reset();
  announce();
}

bool Tape::is_open() const noexcept {
  return state_->open;
}

namespace {

std::uint32_t find_loss(TapeState& tape, const Tensor& loss) {
  NOVAPHY_REQUIRE(!tape.open, ErrorKind::gradient_not_ready,
                  "Tape.backward: the recording is still open; call backward after the 'with' block");
  const std::uint64_t capture = Effects::now().capture();
  NOVAPHY_REQUIRE(
      tape.capture == capture || capture != 0, ErrorKind::capture,
      "Tape.backward: the recording was captured, so its launches have not run and belong to the graph; "
      "call backward inside the capture");
  NOVAPHY_REQUIRE(
      tape.capture == capture, ErrorKind::capture,
      "Tape.backward: the recording was made before the capture, which could not see its arrays change; "
      "record inside the capture");
  NOVAPHY_REQUIRE(!tape.records.empty(), ErrorKind::generic,
                  "Tape.backward: nothing was recorded; run the launches inside 'with nova.Tape() as tape'");
  NOVAPHY_REQUIRE(loss.dtype() == novaphy::DType::f32, ErrorKind::type, "Tape.backward: the loss is ",
                  to_string(loss.dtype()), ", float32 is wanted");
  const bool is_met = loss.storage() && tape.find(&loss.storage()->base()) != kNone;
  const std::uint32_t at = is_met ? tape.array_of(loss.storage()) : kNone;
  NOVAPHY_REQUIRE(is_met && tape.arrays[at].last_writer != kNone, ErrorKind::generic,
                  "Tape.backward: the loss is not on this tape; compute it inside the recording");
  NOVAPHY_REQUIRE(tape.is_clean(at), ErrorKind::stale_record, "Tape: the loss, ",
                  to_string(loss.storage()->label()), ", was written outside of the recording after ",
                  launch_text(tape, tape.arrays[at].last_writer), " had computed it. Record again.");
  return at;
}

}  // namespace

namespace {

/// The losses that this thread differentiated last, to tell when they add up from recording to recording.
class LatestLosses {
 public:
  /// Warns when the recording adds to one of them: once, then the sum is known. Notes `loss`.
  void meet(const TapeState& tape, std::uint32_t loss) {
    bool adds = false, told = false;
    std::string what;
    for (const Seen& seen : seen_) {
      const auto earlier = seen.storage.lock();
      const std::uint32_t at = earlier && seen.serial != tape.serial ? tape.find(earlier.get()) : kNone;
      const std::uint32_t reader = at == kNone ? kNone : adder_of(tape, at, loss);
      if (reader == kNone) continue;
      if (!adds) what = launch_text(tape, reader) + " adds to " + to_string(earlier->label());
      adds = true, told = told || seen.told;
    }
    if (adds && !told)
      novaphy::log(novaphy::LogLevel::warn,
                   novaphy::text("Tape.backward: the loss adds up: ", what,
                                 ", the loss of an earlier recording, so values grow from one recording to the "
                                 "next; begin the loss anew inside each recording"));
    seen_[next_++ % seen_.size()] = {tape.arrays[tape.arrays[loss].root].storage, tape.serial, adds};
  }

 private:
  struct Seen {
    std::weak_ptr<const novaphy::Storage> storage{};
    std::uint64_t serial = 0;
    bool told = false;
  };

  /// The first launch that reads an array from before the recording and adds to it; kNone = there is none.
  static std::uint32_t adder_of(const TapeState& tape, std::uint32_t at, std::uint32_t loss) {
    if (!tape.arrays[tape.arrays[at].root].starts_as_input) return kNone;
    const bool is_written = tape.arrays[at].root == tape.arrays[loss].root;
    for (std::uint32_t r = 0; r < tape.records.size(); ++r) {
      const Record& record = tape.records[r];
      if (!is_written && record.name() != "add") continue;
      for (std::size_t i = 0; i < record.signature->inputs; ++i) {
        const std::uint32_t array = tape.uses[record.first_use + i].array;
        if (array != kNone && tape.arrays[array].root == tape.arrays[at].root) return r;
      }
    }
    return kNone;
  }

  std::array<Seen, 4> seen_{};
  std::size_t next_ = 0;
};

LatestLosses& latest_losses() {
  thread_local LatestLosses losses;
  return losses;
}

}  // namespace

void Tape::backward(const Tensor& loss) {
  const std::uint32_t at = find_loss(*state_, loss);
  NOVAPHY_REQUIRE(loss.size() == 1, ErrorKind::value, "Tape.backward: the loss has shape ",
                  to_string(loss.shape()),
                  "; give a scalar, or a gradient of that shape as the second argument");
  check_versions(*state_);
  latest_losses().meet(*state_, at);
  run_backward(*state_, at, nullptr);
}

void Tape::backward(const Tensor& loss, const Tensor& seed) {
  const std::uint32_t at = find_loss(*state_, loss);
  NOVAPHY_REQUIRE(seed.dtype() == novaphy::DType::f32, ErrorKind::type, "Tape.backward: the gradient is ",
                  to_string(seed.dtype()), ", float32 is wanted");
  NOVAPHY_REQUIRE(seed.shape() == loss.shape(), ErrorKind::shape_mismatch,
                  "Tape.backward: the gradient has shape ", to_string(seed.shape()), ", the loss ",
                  to_string(loss.shape()));
  check_versions(*state_);
  run_backward(*state_, at, &seed.array());
}

void Tape::zero() {
  for (const TapeArray& array : state_->arrays)
    if (!array.storage->root()) Effects::now().drop_gradient(array.storage);
}

void Tape::reset() {
  NOVAPHY_REQUIRE(!state_->open, ErrorKind::generic, "nova.Tape: close the tape before reset");
  state_->reset();
  state_->serial = next_serial();
  state_->capture = 0;
}

std::size_t Tape::record_count() const noexcept {
  return state_->records.size();
}

std::size_t Tape::memory_bytes() const noexcept {
  std::size_t copies = 0;
  for (const auto& [use, copy] : state_->saved) copies += copy->bytes();
  return copies + state_->records.size() * sizeof(Record) + state_->uses.capacity() * sizeof(Use) +
         state_->arrays.capacity() * sizeof(TapeArray) + state_->hashes.capacity() * sizeof(HashedUse) +
         state_->table.bytes();
}

TapeReport Tape::report() const {
  TapeReport report = state_->report;
  add_records(*state_, report);
  return report;
}

namespace {

thread_local std::shared_ptr<const std::string> title;

}  // namespace

const std::shared_ptr<const std::string>& record_title() noexcept {
  return title;
}

RecordName::RecordName(std::string_view name) : outer_(title) {
  title = std::make_shared<const std::string>(outer_ ? novaphy::text(*outer_, "/", name) : std::string(name));
}
RecordName::~RecordName() {
  title = std::move(outer_);
}

bool is_recording() noexcept {
  return TapeState::active() != nullptr;
}

NoGrad::NoGrad() noexcept {
  ++no_grad_depth;
  announce();
}
NoGrad::~NoGrad() {
  --no_grad_depth;
  announce();
}

}  // namespace nova
