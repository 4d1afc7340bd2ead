// SPDX-License-Identifier: Apache-2.0
// Demo diffsim_ball through the plugin system, as novaphy-host runs it.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "novaphy/api.hpp"
#include "novaphy/demo.hpp"
#include "novaphy/error.hpp"
#include "novaphy/runtime.hpp"

using namespace novaphy;

namespace {

/// Raw float32 beside the tests of semi_implicit; a missing or short file fails the test.
std::vector<float> reference(const std::string& name, std::size_t count) {
  const std::string path =
      std::string(NOVAPHY_SOURCE_DIR) + "/plugins/semi_implicit/tests/data/newton_ball_" + name + ".f32";
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
  REQUIRE_MESSAGE(file.gcount() == static_cast<std::streamsize>(count * sizeof(float)), "cannot read ", path);
  return values;
}

/// The demo in a runtime of its own that sees the build tree's plugins.
struct RunningDemo {
  RunningDemo() {
    RuntimeOptions options;
    options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/lib/novaphy/plugins"};
    Runtime::start(options);
    demo = &find<IDemo>("diffsim_ball");
  }
  ~RunningDemo() { Runtime::shutdown(); }
  IDemo* demo = nullptr;
};

void check_bits(const DeviceArray& array, const std::vector<float>& wanted, const char* what) {
  REQUIRE(array.size() == static_cast<std::int64_t>(wanted.size()));
  CHECK_MESSAGE(std::memcmp(array.storage()->data(), wanted.data(), array.bytes()) == 0, what,
                " differs from the reference");
}

}  // namespace

TEST_CASE("the demo's first rollout is Newton's bit for bit, and its training losses within 1e-3") {
  const RunningDemo running;
  IDemo& demo = *running.demo;
  demo.build({});
  CHECK(demo.rollout() == 9.10579776763916f);
  const auto arrays = demo.arrays();
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].name == "particle_q_substeps");
  CHECK(arrays[0].array.shape() == Shape{289, 1, 3});
  check_bits(arrays[0].array, reference("particle_q_substeps", 289 * 3), "particle_q_substeps");
  CHECK(arrays[1].name == "particle_qd_substeps");
  check_bits(arrays[1].array, reference("particle_qd_substeps", 289 * 3), "particle_qd_substeps");
  CHECK(arrays[2].name == "particle_q");
  CHECK(arrays[2].array.shape() == Shape{37, 1, 3});
  const auto frames = arrays[2].array.read<float>(), substeps = arrays[0].array.read<float>();
  CHECK(frames[3 * 36 + 1] == substeps[3 * 288 + 1]);
  CHECK(frames[3 * 5 + 2] == substeps[3 * 40 + 2]);

  const auto losses = reference("train_loss", 30);
  for (int i = 0; i < 30; ++i) {
    const float loss = demo.iterate();
    CHECK_MESSAGE(std::abs(loss - losses[static_cast<std::size_t>(i)]) <= 1e-3f, "iteration ", i, ": ", loss,
                  ", reference ", losses[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("building the demo again starts anew, and options are refused") {
  const RunningDemo running;
  IDemo& demo = *running.demo;
  demo.build({});
  demo.iterate();
  demo.build({});
  CHECK(demo.iterate() == 9.10579776763916f);
  std::string message = "no error";
  try {
    DemoOptions options;
    options.values["speed"] = "3";
    demo.build(options);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "diffsim_ball: there is no option 'speed'; it takes none");
}
