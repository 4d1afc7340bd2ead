// SPDX-License-Identifier: Apache-2.0
// The forces of springs, triangles, bending edges and tetrahedra in the forward step.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/model.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "src/integration.hpp"

namespace novaphy::semi_implicit {

/// Elements of one kind: what their kernel reads, in the order of diff/element_kernels.hpp.
struct ElementRows {
  const char* kernel = "";
  const RowFunctions* generated = nullptr;
  RowFunction formula = nullptr;  ///< the same, row by row, where no kernel was generated
  std::int64_t rows = 0;
  std::span<const std::int32_t> corners;  ///< corner_count a row
  int corner_count = 0;
  std::array<const void*, 6> arguments{};
};

/// Adds the forces of all elements of one kind to `total` [N], element by element in the order of the model.
/// They are evaluated by the task pool, `grain` a task, with one of the first `sets` instruction sets (0 = by
/// formula); the sums depend on neither. `buffer` is memory to work in.
void add_element_forces(const ElementRows& elements, std::span<Vec3f> total, std::int64_t grain,
                        std::vector<Vec3f>& buffer, std::size_t sets = instruction_set_count());

/// In the order of the step: springs, triangles, bending edges, tetrahedra; a kind that the model lacks has
/// no rows.
std::array<ElementRows, 4> element_rows(const Model& model, const SimState& state,
                                        const Activations& activations);

}  // namespace novaphy::semi_implicit
