// SPDX-License-Identifier: Apache-2.0
// What the interpreter executes. Plain structs and pointers only: this header is compiled for several
// instruction sets, and an inline function of the standard library could end up in the library in the wrong
// one.
#pragma once

#include <cstdint>

namespace nova::machine {

enum class Do : std::uint16_t {
  add = 0,
  sub,
  mul,
  div,
  neg,
  fma,
  sqrt,
  abs,
  min,
  max,
  zmul,
  zdiv,
  mul_add,
  mul_sub,
  sub_mul,
  less,
  less_equal,
  equal,
  iless,
  iless_equal,
  iequal,
  mask_and,
  mask_or,
  mask_not,
  select,
  iadd,
  isub,
  imul,
  iand,
  ior,
  ixor,
  floor,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan2,
  exp,
  log,
  pow,
  tanh,
  to_f32,
  idiv,
  imod,
  shift_left,
  shift_right,
  to_i32,
  copy,
  add_if,  ///< d = c ? a + b : a
  sub_if,  ///< d = c ? a - b : a
};

struct Instruction {
  Do op = Do::copy;
  std::uint16_t d = 0, a = 0, b = 0, c = 0;
};

inline constexpr std::uint16_t kNoRegister = 0xFFFF;

enum class From : std::uint8_t { row, uniform, value, domain, pair, gather_row, gather_pair };

/// Up to four numbers of one row, which stand side by side in memory, into a register each.
struct Load {
  From from = From::row;
  std::uint8_t argument = 0, width = 1, component = 0, count = 0;
  std::uint8_t index = 0, index_width = 1, index_column = 0;
  std::uint16_t table = 0;  ///< gather_row on patches: which table, and
  std::uint8_t local = 0;   ///< which column of local indices
  bool bytes = false;       ///< one number of 8 bits, without sign; never from a table
  std::uint16_t reg[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
};

enum class To : std::uint8_t {
  set,          ///< row e
  add,          ///< row e
  add_pair,     ///< row s * rows + e
  sum_row,      ///< summed over all rows
  sum_loop,     ///< for each s, summed over all rows
  staged_loop,  ///< staged[slot][s * rows + e]: scattered when all rows are done
};

struct Store {
  To to = To::set;
  std::uint8_t output = 0, width = 1;
  std::uint16_t component = 0, reg = 0;
  std::uint32_t slot = 0;
};

/// Up to four numbers that row e adds to one row of an output, through one column of the index.
struct Corner {
  std::uint16_t reg[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};  ///< absent: adds nothing
  std::uint16_t piece = 0;
  std::uint8_t column = 0;
  bool negative_zero =
      false;  ///< which zero changes nothing: -0 where it is added, +0 where it is subtracted
};

struct Constant {
  std::uint16_t reg = 0;
  std::uint32_t bits = 0;
};

/// Even stages run once a row, odd ones once for every domain index.
struct Stage {
  std::uint32_t loads = 0, loads_end = 0, code = 0, code_end = 0, stores = 0, stores_end = 0;
};

// Patches: runs of rows that reach few distinct vertices. Vertex rows are copied into tables, rows look them
// up there, and what rows add to vertices is summed in row order while it is still near.

inline constexpr int kPatchVertices = 64, kPatchRows = 128;
/// Rows of 16 bytes that one piece takes for one patch; the last one is neutral.
static constexpr int corner_rows(int columns) noexcept {
  return columns * kPatchRows + 1;
}

/// Where the corner of row `row` of a patch lies: of 16 rows, those that are equal modulo 4 lie side by side,
/// so that a vector of any width is written whole after its groups of four lanes were transposed.
static constexpr int corner_place(int row) noexcept {
  return (row & ~15) | (row & 3) << 2 | (row >> 2 & 3);
}

/// Numbers component .. component + count - 1 of an argument's vertex rows, as rows of 16 bytes.
struct Table {
  std::uint8_t argument = 0, width = 1, component = 0, count = 0;
};

/// The same numbers of an output, which receive the sums of the corners.
struct Piece {
  std::uint8_t output = 0, width = 1, component = 0, count = 0;
  bool subtract = false;
};

struct Patch {
  std::int64_t first = 0;                                            ///< row
  std::int32_t rows = 0, stride = 0;                                 ///< stride: rows, rounded up to 16
  std::int32_t vertex_count = 0, own_groups = 0, shared_groups = 0;  ///< groups of four targets
  const std::int32_t* vertices = nullptr;                            ///< -1: a row of zeros
  const std::uint8_t* local = nullptr;  ///< [column][stride]: position in `vertices`
  const std::int32_t* targets =
      nullptr;  ///< four a group, -1 = none; first those that no earlier task reaches
  const std::uint16_t* trips = nullptr;  ///< a group: corners of its busiest vertex
  const std::uint16_t* corners =
      nullptr;                   ///< [trip][4]: column * stride + corner_place(row), or kNeutralCorner
  std::int64_t own_corners = 0;  ///< entries of `corners` before those of the shared groups
  const std::uint32_t* shared = nullptr;  ///< four a shared group: first place among the shared corners
};
inline constexpr std::uint16_t kNeutralCorner = 0xFFFF;

/// What the rows of one patch see of it.
struct PatchView {
  const Patch* patch = nullptr;
  const float* tables = nullptr;  ///< [table][vertex][4]
  float* corners = nullptr;       ///< [piece][corner row][4]
};

struct Machine {
  const Stage* stages = nullptr;
  const Instruction* code = nullptr;
  const Load* loads = nullptr;
  const Store* stores = nullptr;
  const Constant* constants = nullptr;
  const Load* uniforms = nullptr;
  const Corner* corners = nullptr;
  const Table* tables = nullptr;
  const Piece* pieces = nullptr;
  std::uint32_t stage_count = 0, constant_count = 0, uniform_count = 0, registers = 0;
  std::uint32_t corner_count = 0, patch_corner_count = 0;  ///< the latter with the corners that add nothing
  std::uint32_t table_count = 0, piece_count = 0;
  int columns = 0;  ///< of the index that patches are made for
};

struct Binding {
  const void* const* arguments = nullptr;  ///< a `value` argument points to its four bytes
  void* const* outputs = nullptr;
  float* staged_row = nullptr;   ///< [corner][e][4]
  float* staged_loop = nullptr;  ///< [slot][s * rows + e]
  float* lanes = nullptr;        ///< of this thread: [sum][16], the running leaf of each sum
  float* leaves = nullptr;       ///< [sum][leaf]
  std::uint32_t row_sums = 0;    ///< sums before those of the loop, which are [slot][s]
  std::int64_t rows = 0, domain = 0, leaf_count = 0;
};

/// Runs rows [begin, end) in blocks of `lanes` (1, 16 or 128) rows. `registers` holds registers * lanes
/// floats, 64-byte aligned. Every build and every width gives the same bits.
using Run = void (*)(const Machine& machine, const Binding& binding, std::int64_t begin, std::int64_t end,
                     int lanes, float* registers);

/// Consecutive patches of one task.
struct PatchTask {
  const Patch* patches = nullptr;
  std::int64_t count = 0;
  /// [piece]: what vertices receive that an earlier task has begun goes here, to be summed later. Null: they
  /// are summed at once, which is right when tasks run one after another.
  float* const* shared = nullptr;
  /// Runs the rows of a patch; null: they are interpreted.
  void (*compiled)(const Binding& binding, const PatchView& view, std::int64_t begin,
                   std::int64_t end) = nullptr;
};
inline constexpr int kPatchLanes = 64;
/// Floats that run_patches needs, 64-byte aligned.
static constexpr std::int64_t patch_workspace(const Machine& m) noexcept {
  return m.registers * kPatchLanes + m.table_count * kPatchVertices * 4 +
         m.piece_count * corner_rows(m.columns) * 4;
}
using RunPatches = void (*)(const Machine& machine, const Binding& binding, const PatchTask& task,
                            float* workspace);

/// A row that several tasks add to: its corners from the second task on, in row order, at places first ..
/// first + count - 1.
struct SharedVertex {
  std::int32_t vertex = 0;
  std::uint32_t first = 0, count = 0;
};

/// Adds the shared corners of one piece to vertices begin .. end - 1.
using SumShared = void (*)(const Piece& piece, const SharedVertex* begin, const SharedVertex* end,
                           const float* corners, float* output);

void run_base(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);
void run_v3(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);
void run_v4(const Machine&, const Binding&, std::int64_t, std::int64_t, int, float*);
void run_patches_base(const Machine&, const Binding&, const PatchTask&, float*);
void sum_shared_base(const Piece&, const SharedVertex*, const SharedVertex*, const float*, float*);
void run_patches_v3(const Machine&, const Binding&, const PatchTask&, float*);
void sum_shared_v3(const Piece&, const SharedVertex*, const SharedVertex*, const float*, float*);
void run_patches_v4(const Machine&, const Binding&, const PatchTask&, float*);
void sum_shared_v4(const Piece&, const SharedVertex*, const SharedVertex*, const float*, float*);

}  // namespace nova::machine
