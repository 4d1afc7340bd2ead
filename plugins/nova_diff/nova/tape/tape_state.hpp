// SPDX-License-Identifier: Apache-2.0
// What a tape holds: the arrays that it met, the launches, and for each use of an array the version that was
// seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nova/kernel/compiled.hpp"
#include "nova/tape/array_table.hpp"
#include "nova/tape/cotangent_pool.hpp"
#include "nova/tape/pieces.hpp"
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
  std::uint64_t wanted = 0;  ///< inputs on the way to wanted arrays, as requires_grad stands
  std::shared_ptr<const std::string> title{};  ///< what RecordName called it

  std::string_view name() const noexcept {
    return kernel ? kernel->program.name.view() : std::string_view(custom->operation->name());
  }
};

inline constexpr std::size_t kNoUse = static_cast<std::size_t>(-1);
inline constexpr std::uint64_t kNoVersion = ~std::uint64_t{0};

/// A storage that the recording met: a root, or a region of one.
struct TapeArray {
  std::shared_ptr<novaphy::Storage> storage;
  std::uint32_t root = kNone;    ///< the array that owns the memory; itself unless this is a region
  std::uint32_t family = kNone;  ///< of a root that has regions on this tape
  std::uint64_t written_version = 0;
  std::uint32_t last_writer = kNone;  ///< record that wrote some of it last
  std::size_t read_unhashed =
      kNoUse;  ///< first use whose value backward needs and that could be trusted to its version
  std::uint64_t needed_version = kNoVersion;  ///< the last version whose value backward needs
  bool starts_as_input = false;               ///< roots: some of it was read before the recording wrote it
  bool tainted = false;  ///< roots: a value of this recording came in beside the tape before the first write
  bool value_wanted = false;  ///< roots: a derivative that was wanted while recording reads a value of it
  bool released = false;      ///< nobody needed the values and nobody held the array: its memory is gone
  std::optional<std::uint64_t> written_hash{};  ///< what the last launch left in an escaped array
  // of roots
  float* cotangent = nullptr;
  float* kept = nullptr;         ///< gradients of what the recording made
  bool flows = false;            ///< depends on a wanted array
  bool carried = false;          ///< an earlier recording makes it, and wants its cotangent
  std::uint32_t cut_by = kNone;  ///< record that turned differentiable values into these integers

  ByteRange range() const noexcept { return {storage->offset(), storage->offset() + storage->bytes()}; }
};

/// What is known of the parts of a root.
struct Family {
  Pieces pieces;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> regions{};  ///< by (offset, bytes)
  std::size_t longest = 0;                                                 ///< bytes
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
  void note_number(std::uint32_t bits) { uses.push_back({kNone, bits, 0}); }
  void note_input(const std::shared_ptr<novaphy::Storage>& storage, std::size_t argument);
  /// Before a launch writes: under OnOverwrite::save, keeps copies of what backward needs of the old content.
  void save_before_write(const std::shared_ptr<novaphy::Storage>& storage) {
    if (on_overwrite == OnOverwrite::save && storage) save_overwritten(storage);
  }
  /// After the version was raised by one; the content may still be the old one.
  void note_output(const std::shared_ptr<novaphy::Storage>& storage, std::size_t output);
  /// After the launch has run: remembers what an escaped output holds.
  void note_content(const novaphy::Storage& storage);
  /// Whether something else has written the array since the last launch that did.
  bool was_written_outside(const novaphy::Storage& storage) const;
  /// The number of a storage on this tape, kNone when it was not met.
  std::uint32_t find(const novaphy::Storage* storage) const noexcept;
  /// The same, met now. `raised`: by how much its version was raised since the last note.
  std::uint32_t array_of(const std::shared_ptr<novaphy::Storage>& storage, std::uint64_t raised = 0);
  /// Whether `at` holds what the recording left there, as far as versions tell.
  bool is_clean(std::uint32_t at, std::uint64_t raised = 0) const {
    return arrays[at].written_version + raised == arrays[at].storage->version();
  }
  /// Arrays of one root with bytes in common.
  bool overlap(std::uint32_t a, std::uint32_t b) const {
    return arrays[a].root == arrays[b].root && arrays[a].range().overlaps(arrays[b].range());
  }
  /// The value that a use saw: the array itself, or the copy that was saved before it was overwritten; null
  /// when its memory was given back.
  const void* value_of(const Use& use) const;
  bool is_saved(const Use& use) const { return saved.count({use.array, use.version}) > 0; }
  bool is_released(const Use& use) const { return arrays[use.array].released && !is_saved(use); }
  /// Fails for the first of these inputs of a record whose memory was given back.
  void require_values(std::uint32_t record, std::uint64_t inputs) const;
  /// What a record's inputs want by the present requires_grad, and what that means for what it writes.
  void follow(std::uint32_t record);
  /// Before the next record, or the end of a block: gives back the memory of what the recording made, nobody
  /// holds any more and no wanted derivative reads.
  void settle();
  /// Which bytes of a root which record wrote, of those in `range`.
  std::vector<Piece> pieces_of(const TapeArray& root, ByteRange range) const;
  void reset();
  /// The same, but cotangent buffers stay with who took them.
  void drop_records();

  OnOverwrite on_overwrite = OnOverwrite::error;
  bool keep_values = false;  ///< settle() gives nothing back

  std::vector<TapeArray> arrays;
  std::vector<Use> uses;
  std::deque<Record> records;
  std::vector<HashedUse> hashes;
  std::deque<Family> families;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::shared_ptr<novaphy::Storage>>
      saved;  ///< by array, version
  UnseenWrite unseen;
  UnseenOrigin unseen_origin;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps;  ///< arrays that share memory
  std::size_t first_of_block = 0;  ///< record with which the present or last 'with' block began
  ArrayTable table;
  CotangentPool pool;
  std::uint64_t serial = 0;  ///< which recording wrote a gradient
  std::uint64_t capture = 0;  ///< the capture that the launches were made in, 0 = none: they ran
  std::atomic<bool> open = false;
  TapeReport report;

 private:
  void find_overlaps(std::uint32_t at);
  void join_family(std::uint32_t at, std::uint64_t raised);
  void check_unseen(std::uint32_t at, std::uint64_t version, std::uint32_t reader);
  void mark_read(std::uint32_t at);
  void write_family(std::uint32_t at, std::uint32_t record);
  bool holds_what_was_written(std::uint32_t at) const;
  void save_overwritten(const std::shared_ptr<novaphy::Storage>& storage);
  void save(std::uint32_t at);
  void give_back_unneeded();
  template <class Action>
  void for_each_relative(std::uint32_t at, Action action) const;
  bool has_external_ = false;
  std::uint32_t settled_ = 0;              ///< records that settle() has seen
  std::vector<std::uint32_t> made_;        ///< arrays that settle() may give back
  std::size_t look_at_ = kFirstLook;       ///< when `made_` has so many
  static constexpr std::size_t kFirstLook = 4;
};

/// Smaller arrays stay: their memory is not worth the work. Tests set it.
std::size_t& least_bytes_given_back() noexcept;

/// The name that RecordName gives to what this thread records now; null = none.
const std::shared_ptr<const std::string>& record_title() noexcept;
/// "launch 3 (tet_force)", or "launch 3 (contact: tet_force)" within a RecordName.
std::string launch_text(const TapeState& tape, std::uint32_t record);

TapeState& state_of(Tape& tape) noexcept;

/// Fills TapeReport::records and saved_copies.
void add_records(const TapeState& tape, TapeReport& report);

/// Throws Error(stale_record) for the first value that backward needs and that is gone.
void check_versions(const TapeState& tape);

/// Runs the adjoints in reverse and stores the gradients.
void run_backward(TapeState& tape, std::uint32_t loss, const novaphy::DeviceArray* seed);

}  // namespace nova
