// SPDX-License-Identifier: Apache-2.0
// A program lowered for the interpreter: registers assigned, memory accesses listed.
#pragma once

#include <cstdint>
#include <vector>

#include "nova/backend/machine.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// How staged values of one output reach their array when all rows are done.
struct Staged {
  enum class How : std::uint8_t {
    sum_set,     ///< row 0 = sum over rows
    sum_add,     ///< row 0 += sum over rows
    domain_add,  ///< row s += sum over rows
    scatter_add,
    scatter_sub,       ///< row index[e][column]
    scatter_pair_add,  ///< row index[s * rows + e][column]
  } how = How::sum_set;
  std::uint8_t output = 0, width = 1, component = 0;
  std::uint8_t index = 0, index_width = 1, index_column = 0;
  std::uint32_t slot = 0;
};

struct Code {
  std::vector<machine::Stage> stages;
  std::vector<machine::Instruction> code;
  std::vector<machine::Load> loads, uniforms;
  std::vector<machine::Store> stores;
  std::vector<machine::Constant> constants;
  std::vector<Staged> staged;
  std::uint32_t registers = 0, row_slots = 0, loop_slots = 0;

  machine::Machine machine() const noexcept {
    return {.stages = stages.data(),
            .code = code.data(),
            .loads = loads.data(),
            .stores = stores.data(),
            .constants = constants.data(),
            .uniforms = uniforms.data(),
            .stage_count = static_cast<std::uint32_t>(stages.size()),
            .constant_count = static_cast<std::uint32_t>(constants.size()),
            .uniform_count = static_cast<std::uint32_t>(uniforms.size()),
            .registers = registers};
  }
};

/// Lowers a verified, simplified program.
Code lower(const Program& program);

}  // namespace nova
