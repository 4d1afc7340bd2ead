// SPDX-License-Identifier: Apache-2.0
// Plugin hello_plugin: a demo that throws a stone from a cliff and learns the speed with which it lands on a mark.
#include <cmath>
#include <string>
#include <vector>

#include "novaphy/demo.hpp"
#include "novaphy/error.hpp"
#include "novaphy/plugin.hpp"

namespace {

constexpr float kHeight = 20.0f;   // of the cliff, m
constexpr float kGravity = 9.81f;  // m/s^2
constexpr int kPoints = 11;        // of the path that arrays() shows

class Hello final : public novaphy::IDemo {
 public:
  std::string summary() const override { return "throws a stone from a cliff until it lands on a mark"; }

  void build(const novaphy::DemoOptions& options) override {
    for (const auto& [name, value] : options.values) {
      NOVAPHY_REQUIRE(name == "target", novaphy::ErrorKind::value, "hello: there is no option '", name,
                      "'; there is target, the place of the mark in m");
      target_ = std::stof(value);
    }
  }

  int default_iterations() const override { return 8; }

  // gradient descent: d loss / d speed = 2 (place - target) t, where place = speed t
  float iterate() override {
    const float loss = rollout();
    speed_ -= kRate * 2.0f * (speed_ * fall_time() - target_) * fall_time();
    return loss;
  }

  float rollout() override {
    const float miss = speed_ * fall_time() - target_;
    return miss * miss;
  }

  // the path, rows of x, y, z in m
  std::vector<novaphy::DemoArray> arrays() const override {
    std::vector<float> path;
    for (int i = 0; i < kPoints; ++i) {
      const float t = fall_time() * static_cast<float>(i) / static_cast<float>(kPoints - 1);
      path.insert(path.end(), {speed_ * t, 0.0f, kHeight - 0.5f * kGravity * t * t});
    }
    return {{"path", novaphy::DeviceArray::from(std::span<const float>(path), {kPoints, 3})}};
  }

 private:
  static constexpr float kRate = 0.08f;  // of the descent, 1/s^2
  static float fall_time() { return std::sqrt(2.0f * kHeight / kGravity); }

  float target_ = 30.0f;  // m from the foot of the cliff
  float speed_ = 5.0f;    // m/s, horizontally
};

void load(novaphy::PluginContext& context) {
  static Hello demo;  // lives as long as the process, so longer than the runtime needs it
  context.publish<novaphy::IDemo>("hello", &demo);
  context.log(novaphy::LogLevel::debug, "said hello");
}

}  // namespace

NOVAPHY_PLUGIN(load);
