// SPDX-License-Identifier: Apache-2.0
// The forces of springs, triangles, bending edges and tetrahedra in the forward step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/model.hpp"
#include "novaphy/row_kernel.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"

namespace novaphy::semi_implicit {

/// Elements of one kind: what their kernel reads, in the order of diff/element_kernels.hpp.
struct ElementRows {
  const char* kernel = "";
  RowFunction formula = nullptr;  ///< the same, row by row, where no kernel was generated
  std::int64_t rows = 0;
  std::span<const std::int32_t> corners;  ///< corner_count a row
  int corner_count = 0;
  std::vector<const void*> arguments;
};

/// Adds the forces of all elements of one kind to `total` [N], element by element in the order of the model. They are
/// evaluated by the task pool, `grain` a task, with one of the first `sets` instruction sets (0 = by formula); the
/// sums depend on neither. `buffer` is memory to work in.
void add_element_forces(const ElementRows& elements, std::span<Vec3f> total, std::int64_t grain,
                        std::vector<Vec3f>& buffer, std::size_t sets = instruction_set_count());

/// The kinds that the model has, in the order of the step: springs, triangles, bending edges, tetrahedra.
std::vector<ElementRows> element_rows(const Model& model, const SimState& state, const Activations& activations);

}  // namespace novaphy::semi_implicit
