// SPDX-License-Identifier: Apache-2.0
// A demo through the plugin system, as novaphy-host runs it, and reference data to compare with.
#pragma once

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

namespace novaphy {

/// Raw float32 of the source tree; a missing or short file fails the test.
inline std::vector<float> reference(const std::string& file_name, std::size_t count) {
  const std::string path = std::string(NOVAPHY_SOURCE_DIR) + "/plugins/" + file_name + ".f32";
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
  REQUIRE_MESSAGE(file.gcount() == static_cast<std::streamsize>(count * sizeof(float)), "cannot read ", path);
  return values;
}

/// The demo in a runtime of its own that sees the build tree's plugins.
struct RunningDemo {
  explicit RunningDemo(const char* name) {
    RuntimeOptions options;
    options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/lib/novaphy/plugins"};
    Runtime::start(options);
    demo = &find<IDemo>(name);
  }
  ~RunningDemo() { Runtime::shutdown(); }
  IDemo* demo = nullptr;
};

inline void check_bits(const DeviceArray& array, const std::vector<float>& wanted, const char* what) {
  REQUIRE(array.size() == static_cast<std::int64_t>(wanted.size()));
  CHECK_MESSAGE(std::memcmp(array.storage()->data(), wanted.data(), array.bytes()) == 0, what,
                " differs from the reference");
}

/// Trains as long as `losses` and compares; the demo was just built.
inline void check_training(IDemo& demo, const std::vector<float>& losses, float tolerance) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const float loss = demo.iterate();
    CHECK_MESSAGE(std::abs(loss - losses[i]) <= tolerance, "iteration ", i, ": ", loss, ", reference ",
                  losses[i]);
  }
}

/// What build() says to one option.
inline std::string refusal(IDemo& demo, const char* name, const char* value) {
  try {
    DemoOptions options;
    options.values[name] = value;
    demo.build(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace novaphy
