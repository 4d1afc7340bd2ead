// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_ball.
#include "running_demo.hpp"

using namespace novaphy;

TEST_CASE("the demo's first rollout is Newton's bit for bit, and its training losses within 1e-3") {
  const RunningDemo running("diffsim_ball");
  IDemo& demo = *running.demo;
  demo.build({});
  CHECK(demo.rollout() == 9.10579776763916f);
  const auto arrays = demo.arrays();
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].name == "particle_q_substeps");
  CHECK(arrays[0].array.shape() == Shape{289, 1, 3});
  const std::string ball = "semi_implicit/tests/data/newton_ball_";
  check_bits(arrays[0].array, reference(ball + "particle_q_substeps", 289 * 3), "particle_q_substeps");
  CHECK(arrays[1].name == "particle_qd_substeps");
  check_bits(arrays[1].array, reference(ball + "particle_qd_substeps", 289 * 3), "particle_qd_substeps");
  CHECK(arrays[2].name == "particle_q");
  CHECK(arrays[2].array.shape() == Shape{37, 1, 3});
  const auto frames = arrays[2].array.read<float>(), substeps = arrays[0].array.read<float>();
  CHECK(frames[3 * 36 + 1] == substeps[3 * 288 + 1]);
  CHECK(frames[3 * 5 + 2] == substeps[3 * 40 + 2]);
  check_training(demo, reference(ball + "train_loss", 30), 1e-3f);
}

TEST_CASE("building the demo again starts anew, and options are refused") {
  const RunningDemo running("diffsim_ball");
  IDemo& demo = *running.demo;
  demo.build({});
  demo.iterate();
  demo.build({});
  CHECK(demo.iterate() == 9.10579776763916f);
  CHECK(refusal(demo, "speed", "3") == "diffsim_ball: there is no option 'speed'; it takes none");
}
