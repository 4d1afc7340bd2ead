// SPDX-License-Identifier: Apache-2.0
// Tape: records the launches of one thread and computes gradients by running their adjoints in reverse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/export.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

class TapeState;

enum class OnOverwrite : int {
  error = 0,  ///< backward raises when a value that it needs was overwritten
  save,       ///< the launch that is about to overwrite such a value keeps a copy of it on the tape first
};

enum class KeepValues : int {
  wanted = 0,  ///< what the derivatives of arrays read that require gradient while recording, and what is held
  all,         ///< also what later wishes (requires_grad, jvp) may read
};

/// One line of a recording.
struct RecordSummary {
  struct Argument {
    std::string name;   ///< of the kernel's argument; empty for a custom operation
    std::string array;  ///< "'particle_q' of state #0", "tensor #3", with "[12:24]" for bytes of a part; or a number
  };
  std::string name;       ///< kernel or operation, after the name that RecordName gave
  std::int64_t rows = 0;  ///< 0 for a custom operation
  std::vector<Argument> inputs, outputs;
};

/// What a recording knows: its lines, and after backward about its leaves.
struct TapeReport {
  std::vector<std::string>
      leaves_without_path;        ///< wanted arrays that the loss does not depend on; their gradient is None
  std::vector<std::string> cuts;  ///< integer results of differentiable input: gradient ends there
  std::vector<std::string> saved_copies;  ///< values kept because a launch overwrote them (OnOverwrite::save)
  std::vector<RecordSummary> records;
};

/// Records the Nova launches of the thread that opened it. Forward values are not copied: the arrays must
/// keep them until backward, which checks their versions first. An array that a recorded launch made lives as
/// long as somebody or the tape holds it; the tape does while a derivative may read it that leads to an array
/// with requires_grad, or all of them with KeepValues::all. One open tape a thread.
class NOVAPHY_API Tape {
 public:
  explicit Tape(OnOverwrite on_overwrite = OnOverwrite::error, KeepValues keep = KeepValues::wanted);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Starts recording; launches are appended to those of an earlier block. Throws Error when this thread
  /// records already, or another thread records on this tape.
  void open();
  /// Stops recording.
  void close();
  bool is_open() const noexcept;

  /// Adds d(loss)/d(array) to the gradient of every array that requires it and that the loss depends on.
  /// `seed` may be left out when the loss has one element. May be called again: gradients add. Throws
  /// Error(gradient_not_ready) while open, Error(stale_record) when a value that was read has been
  /// overwritten (by whom the tape could not save it from) or was given back, since no array that required
  /// gradient while recording needed it, Error(value) for a loss that is not scalar
  /// without a seed, Error when the loss is not on the tape.
  void backward(const Tensor& loss);
  void backward(const Tensor& loss, const Tensor& seed);

  /// Drops the gradients of all arrays on this tape.
  void zero();
  /// Drops the records.
  void reset();
  std::size_t record_count() const noexcept;
  /// Bytes that the recording itself holds, copies of overwritten values among them (other forward values
  /// stay in the arrays).
  std::size_t memory_bytes() const noexcept;
  TapeReport report() const;

  struct State;

 private:
  friend TapeState& state_of(Tape& tape) noexcept;
  std::shared_ptr<State> state_;  // held by the recording thread too, until it closes
};

/// A tape that is open for the lifetime of this object.
class NOVAPHY_API TapeScope {
 public:
  explicit TapeScope(Tape& tape) : tape_(tape) { tape_.open(); }
  ~TapeScope() {
    if (tape_.is_open()) tape_.close();
  }
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;

 private:
  Tape& tape_;
};

/// True while this thread records (a tape is open and no NoGrad is alive).
NOVAPHY_API bool is_recording() noexcept;

/// What this thread records in its lifetime stands under this name in messages, reports and pictures; within
/// another one: "outer/inner".
class NOVAPHY_API RecordName {
 public:
  explicit RecordName(std::string_view name);
  ~RecordName();
  RecordName(const RecordName&) = delete;
  RecordName& operator=(const RecordName&) = delete;

 private:
  std::shared_ptr<const std::string> outer_;
};

/// Launches in its lifetime are not recorded.
class NOVAPHY_API NoGrad {
 public:
  NoGrad() noexcept;
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
};

}  // namespace nova
