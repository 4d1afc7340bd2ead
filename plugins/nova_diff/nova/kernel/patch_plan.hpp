// SPDX-License-Identifier: Apache-2.0
// How the rows of an index array are cut into patches and tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nova/backend/machine.hpp"
#include "novaphy/array.hpp"

namespace nova {

/// The part of an index array that a program uses.
struct IndexColumns {
  std::int64_t rows = 0;
  std::uint32_t width = 1, first = 0, columns = 1;
  friend bool operator==(const IndexColumns&, const IndexColumns&) = default;
};

/// Depends on the index array alone, never on the number of threads. A task is a run of rows that begins at a
/// multiple of 256, a patch a run of rows of one task with at most 64 distinct vertices.
class PatchPlan {
 public:
  struct Task {
    std::size_t first_patch = 0, patches = 0;
    std::int64_t first_row = 0;
  };

  /// The plan for this content of `index`, made on first need and kept beside the array. Any thread.
  static std::shared_ptr<const PatchPlan> of(novaphy::Storage& index, const IndexColumns& columns);

  PatchPlan(const std::int32_t* index, const IndexColumns& columns);
  PatchPlan(const PatchPlan&) = delete;
  PatchPlan& operator=(const PatchPlan&) = delete;

  const std::vector<machine::Patch>& patches() const noexcept { return patches_; }
  const std::vector<Task>& tasks() const noexcept { return tasks_; }
  /// Vertices that several tasks reach, ascending, with the corners that all tasks but the first have; their
  /// number.
  const std::vector<machine::SharedVertex>& shared_vertices() const noexcept { return shared_vertices_; }
  std::uint32_t shared_corners() const noexcept { return shared_corners_; }
  /// The largest vertex, plus 1.
  std::int64_t vertex_end() const noexcept { return vertex_end_; }
  /// Whether patches have enough rows to be worth it for interpreted kernels.
  bool pays() const noexcept { return pays_; }

 private:
  class Builder;
  IndexColumns columns_;
  std::uint64_t content_ = 0;  ///< version, or hash where others may write
  std::uint32_t limits_ = 0;
  std::vector<machine::Patch> patches_;
  std::vector<Task> tasks_;
  std::vector<std::int32_t> vertices_, targets_;
  std::vector<std::uint8_t> local_;
  std::vector<std::uint16_t> trips_, corners_;
  std::vector<std::uint32_t> shared_;
  std::vector<machine::SharedVertex> shared_vertices_;
  std::uint32_t shared_corners_ = 0;
  std::int64_t vertex_end_ = 0;
  bool pays_ = false;
};

/// For tests: at most `vertices` (4 to 64) distinct vertices a patch and `task_rows` rows a task; 0 = as
/// usual. Results do not depend on it.
void set_patch_limits(int vertices, std::int64_t task_rows) noexcept;

}  // namespace nova
