// SPDX-License-Identifier: Apache-2.0
#include "resolve/load_order.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace novaphy {
namespace {

class Order {
 public:
  Order(std::vector<PlannedModule>& rows, const std::vector<ManifestFile>& files)
      : rows_(rows), rank_(rows.size()), unmet_(rows.size()), users_(rows.size()), done_(rows.size()) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].state == PluginState::ready) by_rank_.push_back(i);
    const auto key = [&](std::size_t i) {
      const ModuleManifest& module = files[rows[i].file].manifest.modules[*rows[i].module];
      return std::tie(module.phase, module.name);
    };
    std::sort(by_rank_.begin(), by_rank_.end(),
              [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      const std::size_t row = by_rank_[rank];
      rank_[row] = rank;
      for (const auto* list : {&rows[row].required, &rows[row].optional})
        for (const std::size_t other : *list) users_[other].push_back(row);
      unmet_[row] = rows[row].required.size() + rows[row].optional.size();
      if (unmet_[row] == 0) free_.insert(rank);
    }
  }

  std::vector<std::size_t> run() {
    std::vector<std::size_t> order;
    while (order.size() < by_rank_.size()) {
      if (free_.empty()) free_.insert(rank_[break_circle()]);
      const std::size_t row = by_rank_[*free_.begin()];
      free_.erase(free_.begin());
      done_[row] = true;
      order.push_back(row);
      for (const std::size_t user : users_[row])
        if (!done_[user] && --unmet_[user] == 0) free_.insert(rank_[user]);
    }
    return order;
  }

 private:
  /// Only optional modules can make a circle here: the plan has blocked the others. The first module that has
  /// what it requires goes without the optional ones that are not there yet.
  std::size_t break_circle() {
    const auto is_done = [this](std::size_t i) { return bool(done_[i]); };
    const auto next = std::find_if(by_rank_.begin(), by_rank_.end(), [&](std::size_t row) {
      const auto& required = rows_[row].required;
      return !done_[row] && std::all_of(required.begin(), required.end(), is_done);
    });
    std::erase_if(rows_[*next].optional, [&](std::size_t i) { return !is_done(i); });
    return *next;
  }

  std::vector<PlannedModule>& rows_;
  std::vector<std::size_t> by_rank_, rank_;      // rows by phase and name, and where each stands there
  std::vector<std::size_t> unmet_;               // how many of a row's modules are not in the order yet
  std::vector<std::vector<std::size_t>> users_;  // who waits for a row
  std::vector<bool> done_;
  std::set<std::size_t> free_;  // ranks of rows that wait for nobody
};

}  // namespace

std::vector<std::size_t> load_order(std::vector<PlannedModule>& rows,
                                    const std::vector<ManifestFile>& files) {
  return Order(rows, files).run();
}

}  // namespace novaphy
