// SPDX-License-Identifier: Apache-2.0
// A program lowered for the interpreter: registers assigned, memory accesses listed.
#pragma once

#include <cstdint>
#include <vector>

#include "nova/backend/machine.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// A sum over all rows, and where it goes.
struct Sum {
  enum class How : std::uint8_t {
    set,     ///< row 0 = sum
    add,     ///< row 0 += sum
    domain,  ///< for each s: row s += sum
  } how = How::set;
  std::uint8_t output = 0, width = 1, component = 0;
  std::uint32_t slot = 0;  ///< among the sums over rows, or among those of the loop
};

/// The column of the index array through which a corner reaches its row.
struct CornerIndex {
  std::uint8_t argument = 0, width = 1, column = 0;
};

/// One number that a loop adds to row index[s * rows + e][column].
struct PairScatter {
  std::uint8_t output = 0, width = 1, component = 0;
  CornerIndex index;
  std::uint32_t slot = 0;
};

struct Code {
  std::vector<machine::Stage> stages;
  std::vector<machine::Instruction> code;
  std::vector<machine::Load> loads, uniforms;
  std::vector<machine::Store> stores;
  std::vector<machine::Constant> constants;
  std::vector<Sum> sums;
  std::vector<PairScatter> pair_scatters;
  std::vector<machine::Corner> corners;     ///< those that add something first
  std::vector<CornerIndex> corner_indices;  ///< of those that add something
  std::vector<machine::Piece> pieces;
  std::vector<machine::Table> tables;
  std::uint32_t registers = 0, row_sums = 0, loop_sums = 0;
  const CompiledKernel* compiled = nullptr;  ///< null: the program is interpreted

  /// The index argument through which the program gathers and scatters, kNone when there are none or several:
  /// then the program does not run on patches. And the columns that it uses.
  std::uint32_t patch_index = kNone, index_width = 1, first_column = 0, columns = 0;

  machine::Machine machine() const noexcept {
    return {.stages = stages.data(),
            .code = code.data(),
            .loads = loads.data(),
            .stores = stores.data(),
            .constants = constants.data(),
            .uniforms = uniforms.data(),
            .corners = corners.data(),
            .tables = tables.data(),
            .pieces = pieces.data(),
            .stage_count = static_cast<std::uint32_t>(stages.size()),
            .constant_count = static_cast<std::uint32_t>(constants.size()),
            .uniform_count = static_cast<std::uint32_t>(uniforms.size()),
            .registers = registers,
            .corner_count = static_cast<std::uint32_t>(corner_indices.size()),
            .patch_corner_count = static_cast<std::uint32_t>(corners.size()),
            .table_count = static_cast<std::uint32_t>(tables.size()),
            .piece_count = static_cast<std::uint32_t>(pieces.size()),
            .columns = static_cast<int>(columns)};
  }
};

/// Lowers a verified, simplified program.
Code lower(const Program& program);

}  // namespace nova
