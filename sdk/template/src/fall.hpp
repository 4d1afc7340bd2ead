// SPDX-License-Identifier: Apache-2.0
@file demo@
// A demo: a stone falls from a tower, and the drag is learned with which it needs a given time.
#pragma once

#include <string>
#include <vector>

#include "novaphy/demo.hpp"

namespace @name@ {

class Fall final : public novaphy::IDemo {
 public:
  std::string summary() const override;
  /// The one option is `time`, in s. Throws novaphy::Error(value) for others.
  void build(const novaphy::DemoOptions& options) override;
  int default_iterations() const override { return 20; }
  float iterate() override;
  float rollout() override;
  /// `path`: the stone's positions, m, one row a step.
  std::vector<novaphy::DemoArray> arrays() const override;

 private:
  float time_ = 3.0f;    // s until the stone shall arrive
  float drag_ = 0.1f;    // 1/s, what is learned
  float height_ = 0.0f;  // m above the ground after that time
  float slope_ = 0.0f;   // its derivative by the drag
  std::vector<float> path_;
};

}  // namespace @name@
