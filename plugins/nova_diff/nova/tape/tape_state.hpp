// SPDX-License-Identifier: Apache-2.0
// What a tape holds: the arrays that it met, the launches, and for each use of an array the version that was
// seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nova/kernel/compiled.hpp"
#include "nova/tape/cotangent_pool.hpp"
#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/tape.hpp"

namespace nova {

/// One argument of one launch.
struct Use {
  std::uint32_t array = kNone;  ///< in TapeState::arrays; kNone = a number
  std::uint32_t bits = 0;       ///< the number
  std::uint64_t version = 0;    ///< input: as read; output: after the write
};

/// A custom operation as it was applied.
struct Custom {
  LaunchSignature signature;
  std::shared_ptr<const CustomOperation> operation;
};

/// A launch: of a kernel, or of a custom operation.
struct Record {
  std::shared_ptr<const Kernel::Compiled> kernel;  ///< null for a custom operation
  std::shared_ptr<const Custom> custom;            ///< null for a kernel
  const LaunchSignature* signature = nullptr;      ///< of either
  std::int64_t rows = 0, domain = 0;
  std::size_t first_use = 0;  ///< inputs, then outputs
  std::uint64_t values_needed = 0;
  std::uint64_t wanted = 0;  ///< during backward: inputs on the way to wanted arrays

  std::string_view name() const noexcept {
    return kernel ? kernel->program.name.view() : std::string_view(custom->operation->name());
  }
};

inline constexpr std::size_t kNoUse = static_cast<std::size_t>(-1);

/// An array that the recording met.
struct TapeArray {
  std::shared_ptr<novaphy::Storage> storage;
  std::uint64_t written_version = 0;
  std::uint32_t last_writer = kNone;  ///< record
  std::size_t read_unhashed =
      kNoUse;  ///< first use whose value backward needs and that could be trusted to its version
  bool starts_as_input =
      false;  ///< it had a value before the recording wrote it: its gradient is that value's
  std::optional<std::uint64_t> written_hash{};  ///< what the last launch left in an escaped array
  // during backward
  float* cotangent = nullptr;
  bool flows = false;            ///< depends on a wanted array
  bool kept = false;             ///< the gradient of an intermediate has been stored
  std::uint32_t cut_by = kNone;  ///< record that turned differentiable values into these integers
};

struct HashedUse {
  std::size_t use = 0;
  std::uint64_t hash = 0;
};

/// A write that no launch made, or could have escaped us, between a recorded write and a recorded read.
struct UnseenWrite {
  std::uint32_t array = kNone, writer = kNone, reader = kNone;
  bool view_taken = false;  ///< there is a writable view since, so nobody knows
};

/// Storage* -> index, open addressing.
class ArrayTable {
 public:
  /// The place of `key`; `*place == kNone` when it is new, and the caller fills it.
  std::uint32_t& at(const novaphy::Storage* key);
  std::uint32_t find(const novaphy::Storage* key) const noexcept;
  void clear() { cells_.clear(), used_ = 0; }
  std::size_t bytes() const noexcept { return cells_.capacity() * sizeof(Cell); }

 private:
  struct Cell {
    const novaphy::Storage* key = nullptr;
    std::uint32_t index = kNone;
  };
  std::size_t start(const novaphy::Storage* key) const noexcept;
  void grow();
  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

/// A value of this recording that reached a launch through a copy or a computation that no launch made.
struct UnseenOrigin {
  std::uint32_t array = kNone, reader = kNone;
};

class TapeState {
 public:
  /// The tape that this thread records on, null when it does not record.
  static TapeState* active() noexcept;

  void begin_record(const std::shared_ptr<const Kernel::Compiled>& kernel, std::int64_t rows,
                    std::int64_t domain);
  void begin_record(std::shared_ptr<const Custom> custom, std::uint64_t values_needed);
  /// Undoes begin_record and the inputs noted since.
  void drop_last_record();
  void note_number(std::uint32_t bits) { uses.push_back({kNone, bits, 0}); }
  void note_input(const std::shared_ptr<novaphy::Storage>& storage, std::size_t argument);
  void note_output(const std::shared_ptr<novaphy::Storage>& storage, std::size_t output);
  /// After the launch has run: remembers what an escaped output holds.
  void note_content(const novaphy::Storage& storage);
  /// Whether something else has written the array since the last launch that did.
  bool was_written_outside(const novaphy::Storage& storage) const;
  void reset();

  std::vector<TapeArray> arrays;
  std::vector<Use> uses;
  std::deque<Record> records;
  std::vector<HashedUse> hashes;
  UnseenWrite unseen;
  UnseenOrigin unseen_origin;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps;  ///< arrays that share memory
  std::size_t first_of_block = 0;  ///< record with which the present or last 'with' block began
  ArrayTable table;
  CotangentPool pool;
  std::uint64_t serial = 0;  ///< which recording wrote a gradient
  std::atomic<bool> open = false;
  TapeReport report;

 private:
  void find_overlaps(std::uint32_t at);
  void check_unseen(std::uint32_t at, std::uint64_t version, std::uint32_t reader);
  std::uint32_t array_of(const std::shared_ptr<novaphy::Storage>& storage, bool as_input);
  bool has_external_ = false;
};

/// Throws Error(stale_record) for the first value that backward needs and that is gone.
void check_versions(const TapeState& tape);

/// Runs the adjoints in reverse and stores the gradients.
void run_backward(TapeState& tape, std::uint32_t loss, const novaphy::DeviceArray* seed);

}  // namespace nova
