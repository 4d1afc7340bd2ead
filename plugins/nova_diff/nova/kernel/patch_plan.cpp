// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/patch_plan.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "nova/tensor/slot.hpp"

namespace nova {
namespace {

using machine::Patch;

constexpr std::int64_t kLeaf =
    256;  // tasks begin at multiples of it, so that a leaf of a sum lies in one task
std::atomic<std::uint32_t> limits{0};  // vertices, and rows a task in units of a leaf above them

int most_vertices(std::uint32_t limit) {
  return (limit & 0xFF) == 0 ? machine::kPatchVertices : static_cast<int>(limit & 0xFF);
}

// About eight tasks, none below 512 rows, none above 16,384: enough to share, few enough shared vertices.
std::int64_t task_rows(std::int64_t rows, std::uint32_t limit) {
  const std::int64_t asked = limit >> 8;
  if (asked > 0) return asked * kLeaf;
  return std::clamp((rows / 8 + kLeaf - 1) / kLeaf, std::int64_t{2}, std::int64_t{64}) * kLeaf;
}

}  // namespace

/// Cuts and lists; positions in the lists become pointers at the end, when the lists have stopped to grow.
class PatchPlan::Builder {
 public:
  Builder(PatchPlan& plan, const std::int32_t* index) : plan_(plan), use_(plan.columns_), index_(index) {
    for (std::int64_t e = 0; e < use_.rows; ++e)
      for (std::uint32_t q = 0; q < use_.columns; ++q)
        plan_.vertex_end_ = std::max<std::int64_t>(plan_.vertex_end_, at(e, q) + 1);
    place_.assign(static_cast<std::size_t>(plan_.vertex_end_), kNowhere);
    const std::int64_t step = task_rows(use_.rows, plan_.limits_);
    find_shared(step);
    for (std::int64_t row = 0; row < use_.rows; row += step) cut_task(row, std::min(row + step, use_.rows));
    set_pointers();
    std::int64_t vertices = 0;
    for (const Patch& p : plan_.patches_) vertices += p.vertex_count;
    plan_.pays_ = 2 * use_.rows >= vertices;
  }

 private:
  static constexpr std::uint8_t kNowhere = 0xFF;
  struct Corners {
    std::int32_t vertex;
    std::vector<std::uint16_t> rows;
  };
  std::int32_t at(std::int64_t row, std::uint32_t column) const {
    return index_[row * use_.width + use_.first + column];
  }
  void find_shared(std::int64_t step);
  void cut_task(std::int64_t begin, std::int64_t end);
  std::int64_t grow(std::int64_t begin, std::int64_t end);
  void add_patch(std::int64_t begin, std::int64_t end);
  void add_groups(const std::vector<Corners>& vertices, bool shared);
  void set_pointers();

  PatchPlan& plan_;
  const IndexColumns& use_;
  const std::int32_t* const index_;
  std::vector<std::uint8_t> place_;         // of each vertex in the patch at work
  std::vector<std::int32_t> first_task_;    // that reaches each vertex; later ones share its corners
  std::vector<std::uint32_t> next_shared_;  // next place of each vertex among the shared corners
  struct Offsets {
    std::size_t vertices, local, targets, trips, corners, shared;
  };
  std::vector<Offsets> offsets_;
};

// The first task that reaches a vertex adds to it at once: its corners are the first of the chain.
void PatchPlan::Builder::find_shared(std::int64_t step) {
  const auto count = static_cast<std::size_t>(plan_.vertex_end_);
  first_task_.assign(count, -1);
  std::vector<std::uint32_t> later_corners(count);
  for (std::int64_t e = 0; e < use_.rows; ++e)
    for (std::uint32_t q = 0; q < use_.columns; ++q) {
      if (at(e, q) < 0) continue;
      const auto v = static_cast<std::size_t>(at(e, q));
      if (first_task_[v] < 0) first_task_[v] = static_cast<std::int32_t>(e / step);
      if (first_task_[v] != e / step) ++later_corners[v];
    }
  next_shared_.assign(count, 0);
  for (std::size_t v = 0; v < count; ++v) {
    if (later_corners[v] == 0) continue;
    next_shared_[v] = plan_.shared_corners_;
    plan_.shared_vertices_.push_back({static_cast<std::int32_t>(v), plan_.shared_corners_, later_corners[v]});
    plan_.shared_corners_ += later_corners[v];
  }
}

void PatchPlan::Builder::cut_task(std::int64_t begin, std::int64_t end) {
  const std::size_t first = plan_.patches_.size();
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t next = grow(row, end);
    add_patch(row, next);
    row = next;
  }
  plan_.tasks_.push_back({first, plan_.patches_.size() - first, begin});
}

// As many rows as the vertices allow, in whole blocks of 16.
std::int64_t PatchPlan::Builder::grow(std::int64_t begin, std::int64_t end) {
  std::vector<std::size_t> seen;
  bool missing = false;
  std::int64_t e = begin;
  for (; e < end && e - begin < machine::kPatchRows; ++e) {
    const std::size_t before = seen.size();
    for (std::uint32_t q = 0; q < use_.columns; ++q) {
      if (at(e, q) < 0) {
        missing = true;
        continue;
      }
      const auto v = static_cast<std::size_t>(at(e, q));
      if (place_[v] != kNowhere) continue;
      place_[v] = 0;
      seen.push_back(v);
    }
    if (static_cast<int>(seen.size() + (missing ? 1 : 0)) > most_vertices(plan_.limits_) && (e > begin)) {
      for (std::size_t k = before; k < seen.size(); ++k) place_[seen[k]] = kNowhere;
      seen.resize(before);
      break;
    }
  }
  for (const std::size_t v : seen) place_[v] = kNowhere;
  return e < end && e - begin > 16 ? begin + (e - begin) / 16 * 16 : e;
}

void PatchPlan::Builder::add_patch(std::int64_t begin, std::int64_t end) {
  const auto rows = static_cast<std::int32_t>(end - begin), stride = (rows + 15) / 16 * 16;
  const auto task = static_cast<std::int32_t>(plan_.tasks_.size());
  std::vector<Corners> own, shared;
  for (std::int64_t e = begin; e < end; ++e)
    for (std::uint32_t q = 0; q < use_.columns; ++q) {
      const std::int32_t v = at(e, q);
      if (v < 0) continue;
      auto& list = first_task_[static_cast<std::size_t>(v)] == task ? own : shared;
      std::uint8_t& place = place_[static_cast<std::size_t>(v)];
      if (place == kNowhere) place = static_cast<std::uint8_t>(list.size()), list.push_back({v, {}});
      list[place].rows.push_back(static_cast<std::uint16_t>(
          static_cast<std::int32_t>(q) * stride + machine::corner_place(static_cast<int>(e - begin))));
    }
  // the busiest first, so that four neighbours share one number of trips
  for (auto* const list : {&own, &shared})
    std::stable_sort(list->begin(), list->end(),
                     [](const Corners& a, const Corners& b) { return a.rows.size() > b.rows.size(); });

  const std::size_t first_vertex = plan_.vertices_.size(), first_corner = plan_.corners_.size();
  offsets_.push_back({first_vertex, plan_.local_.size(), plan_.targets_.size(), plan_.trips_.size(),
                      first_corner, plan_.shared_.size()});
  for (const auto* const list : {&own, &shared})
    for (const Corners& c : *list) {
      place_[static_cast<std::size_t>(c.vertex)] =
          static_cast<std::uint8_t>(plan_.vertices_.size() - first_vertex);
      plan_.vertices_.push_back(c.vertex);
    }
  const auto zeros = static_cast<std::uint8_t>(plan_.vertices_.size() - first_vertex);
  bool missing = false;
  for (std::uint32_t q = 0; q < use_.columns; ++q)
    for (std::int64_t e = begin; e < begin + stride; ++e) {
      const std::int32_t v = e < end ? at(e, q) : at(begin, q);
      missing |= v < 0;
      plan_.local_.push_back(v < 0 ? zeros : place_[static_cast<std::size_t>(v)]);
    }
  if (missing) plan_.vertices_.push_back(-1);
  const std::size_t vertex_count = plan_.vertices_.size() - first_vertex;
  plan_.vertices_.resize(first_vertex + (vertex_count + 15) / 16 * 16, -1);  // tables are filled 16 at a time
  add_groups(own, false);
  const std::size_t own_corners = plan_.corners_.size() - first_corner;
  add_groups(shared, true);
  plan_.patches_.push_back({.first = begin,
                            .rows = rows,
                            .stride = stride,
                            .vertex_count = static_cast<std::int32_t>(vertex_count),
                            .own_groups = static_cast<std::int32_t>((own.size() + 3) / 4),
                            .shared_groups = static_cast<std::int32_t>((shared.size() + 3) / 4),
                            .own_corners = static_cast<std::int64_t>(own_corners)});
  for (const auto* const list : {&own, &shared})
    for (const Corners& c : *list) place_[static_cast<std::size_t>(c.vertex)] = kNowhere;
}

void PatchPlan::Builder::add_groups(const std::vector<Corners>& vertices, bool shared) {
  for (std::size_t i = 0; i < vertices.size(); i += 4) {
    const std::size_t trips = vertices[i].rows.size();
    plan_.trips_.push_back(static_cast<std::uint16_t>(trips));
    for (std::size_t j = 0; j < trips; ++j)
      for (std::size_t k = i; k < i + 4; ++k) {
        const bool there = k < vertices.size() && j < vertices[k].rows.size();
        plan_.corners_.push_back(there ? vertices[k].rows[j] : machine::kNeutralCorner);
      }
    for (std::size_t k = i; k < i + 4; ++k) {
      plan_.targets_.push_back(k < vertices.size() ? vertices[k].vertex : -1);
      if (!shared) continue;
      std::uint32_t place = 0;
      if (k < vertices.size()) {
        std::uint32_t& next = next_shared_[static_cast<std::size_t>(vertices[k].vertex)];
        place = next;
        next += static_cast<std::uint32_t>(vertices[k].rows.size());
      }
      plan_.shared_.push_back(place);
    }
  }
}

void PatchPlan::Builder::set_pointers() {
  for (std::size_t i = 0; i < plan_.patches_.size(); ++i) {
    Patch& p = plan_.patches_[i];
    const Offsets& o = offsets_[i];
    p.vertices = plan_.vertices_.data() + o.vertices, p.local = plan_.local_.data() + o.local;
    p.targets = plan_.targets_.data() + o.targets, p.trips = plan_.trips_.data() + o.trips;
    p.corners = plan_.corners_.data() + o.corners, p.shared = plan_.shared_.data() + o.shared;
  }
}

PatchPlan::PatchPlan(const std::int32_t* index, const IndexColumns& columns)
    : columns_(columns), limits_(limits.load(std::memory_order_relaxed)) {
  Builder(*this, index);
}

std::shared_ptr<const PatchPlan> PatchPlan::of(novaphy::Storage& index, const IndexColumns& columns) {
  constexpr std::size_t kMostKept = 4;  // programs that use the array in different ways
  const std::uint64_t content = index.escaped() ? content_hash(index) : index.version();
  Slot& slot = slot_of(index);
  const std::lock_guard lock(slot.plan_lock);
  for (const auto& plan : slot.plans)
    if (plan->content_ == content && plan->columns_ == columns &&
        plan->limits_ == limits.load(std::memory_order_relaxed))
      return plan;
  const auto made = std::make_shared<PatchPlan>(static_cast<const std::int32_t*>(index.data()), columns);
  made->content_ = content;
  std::erase_if(slot.plans,
                [&](const auto& plan) { return plan->content_ != content || plan->columns_ == columns; });
  if (slot.plans.size() == kMostKept) slot.plans.erase(slot.plans.begin());
  slot.plans.push_back(made);
  return made;
}

void set_patch_limits(int vertices, std::int64_t rows) noexcept {
  limits.store(static_cast<std::uint32_t>(std::clamp(vertices, 0, machine::kPatchVertices)) |
                   static_cast<std::uint32_t>((std::max<std::int64_t>(rows, 0) + kLeaf - 1) / kLeaf) << 8,
               std::memory_order_relaxed);
}

}  // namespace nova
