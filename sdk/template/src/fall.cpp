// SPDX-License-Identifier: Apache-2.0
@file demo@
#include "fall.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "@name@/formula/drag.h"
#include "@name@/options.hpp"
#include "novaphy/error.hpp"

namespace @name@ {
namespace {

constexpr float kTower = 30.0f;     // m
constexpr float kGravity = -9.81f;  // m/s^2
constexpr int kSteps = 300;

float time_from(const std::string& text) {
  std::size_t used = 0;
  float time = 0.0f;
  try {
    time = std::stof(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  NOVAPHY_REQUIRE(used == text.size() && time > 2.5f && time < 60.0f, novaphy::ErrorKind::value,
                  "@name@_fall: time is '", text, "'; give seconds between 2.5 and 60");
  return time;
}

}  // namespace

std::string Fall::summary() const {
  return "learns the drag with which a stone falls for a given time";
}

void Fall::build(const novaphy::DemoOptions& options) {
  drag_ = configured().drag;
  for (const auto& [name, value] : options.values) {
    NOVAPHY_REQUIRE(name == "time", novaphy::ErrorKind::value, "@name@_fall: there is no option '", name,
                    "'; there is time, in s");
    time_ = time_from(value);
  }
}

float Fall::rollout() {
  const float dt = time_ / static_cast<float>(kSteps);
  float velocity = 0.0f, velocity_slope = 0.0f;
  height_ = kTower, slope_ = 0.0f;
  path_.clear();
  for (int step = 0; step < kSteps; ++step) {
    path_.insert(path_.end(), {0.0f, 0.0f, height_});
    const float drag = formula::drag_acceleration(novaphy::Vec3f{0.0f, 0.0f, velocity}, drag_).z;
    velocity_slope += dt * (-velocity - drag_ * velocity_slope);  // the same step, differentiated by the drag
    velocity += dt * (kGravity + drag);
    height_ += dt * velocity;
    slope_ += dt * velocity_slope;
  }
  return height_ * height_;
}

float Fall::iterate() {
  const float loss = rollout();
  // Newton's rule for height = 0
  if (slope_ > 0.0f) drag_ = std::max(0.0f, drag_ - height_ / slope_);
  return loss;
}

std::vector<novaphy::DemoArray> Fall::arrays() const {
  const auto rows = static_cast<std::int64_t>(path_.size() / 3);
  return {{"path", novaphy::DeviceArray::from(std::span<const float>(path_), {rows, 3})}};
}

}  // namespace @name@
