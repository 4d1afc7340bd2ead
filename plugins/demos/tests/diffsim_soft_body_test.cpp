// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_soft_body.
#include "running_demo.hpp"

using namespace novaphy;

namespace {
const std::string kData = "demos/tests/data/newton_soft_body_";
constexpr float kFirstLoss = 0.7329833507537842f;
}  // namespace

TEST_CASE("the soft body's first rollout is Newton's bit for bit, contacts found in every substep") {
  const RunningDemo running("diffsim_soft_body");
  IDemo& demo = *running.demo;
  demo.build({});
  CHECK(demo.rollout() == kFirstLoss);
  const auto arrays = demo.arrays();
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].array.shape() == Shape{961, 27, 3});
  CHECK(arrays[2].name == "particle_q");
  CHECK(arrays[2].array.shape() == Shape{61, 27, 3});
  check_bits(arrays[2].array, reference(kData + "particle_q", 61 * 27 * 3), "particle_q");
}

TEST_CASE("the soft body trains as in Newton with a material for each tetrahedron") {
  const RunningDemo running("diffsim_soft_body");
  DemoOptions options;
  options.values["per_tet"] = "1";
  running.demo->build(options);
  check_training(*running.demo, reference(kData + "per_tet_train_loss", 10), 1e-3f);
}

// This descent jumps from one series of bounces to another: rounding of the first gradients, 1e-6 of them, is
// 4e-3 of the loss at the seventh iteration, where it falls fastest.
TEST_CASE("the soft body trains as in Newton with one material, but for what rounding changes") {
  const RunningDemo running("diffsim_soft_body");
  running.demo->build({});
  check_training(*running.demo, reference(kData + "train_loss", 10), 5e-3f);
}

TEST_CASE("building the soft body again starts anew, and what is no option of it is refused") {
  const RunningDemo running("diffsim_soft_body");
  IDemo& demo = *running.demo;
  demo.build({});
  demo.iterate();
  demo.build({});
  CHECK(demo.rollout() == kFirstLoss);
  CHECK(refusal(demo, "material", "3") ==
        "diffsim_soft_body: there is no option 'material'; there is per_tet");
  CHECK(refusal(demo, "per_tet", "yes") ==
        "diffsim_soft_body: per_tet is 'yes'; give 0 for one material or 1 for one of each tetrahedron");
}
