// SPDX-License-Identifier: Apache-2.0
// The ball of Newton's example_diffsim_ball, from the arrays in tests/data.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::test {

/// Raw float32 of tests/data; a missing or short file fails the test.
inline std::vector<float> reference_array(const std::string& name, std::size_t count) {
  const std::string path =
      std::string(NOVAPHY_SOURCE_DIR) + "/plugins/semi_implicit/tests/data/" + name + ".f32";
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
  REQUIRE_MESSAGE(file.gcount() == static_cast<std::streamsize>(count * sizeof(float)), "cannot read ", path);
  return values;
}

struct ReferenceBall {
  static constexpr float kLoss = 9.10579776763916f;
  static constexpr float kGradient[3] = {0.0f, -4.97275972366333f,
                                         -0.39862772822380066f};  // of the start velocity

  std::vector<float> q = reference_array("newton_ball_particle_q_substeps", 289 * 3);
  std::vector<float> qd = reference_array("newton_ball_particle_qd_substeps", 289 * 3);
  std::vector<float> f = reference_array("newton_ball_particle_f_substeps", 289 * 3);

  void check_state(int substep, const SimState& state) const {
    check_row("position", substep, q, state.particle_q);
    check_row("velocity", substep, qd, state.particle_qd);
  }
  void check_force(int substep, const SimState& state) const {
    check_row("force", substep, f, state.particle_f);
  }

 private:
  static void check_row(const char* what, int substep, const std::vector<float>& rows,
                        const DeviceArray& array) {
    const float* wanted = rows.data() + 3 * substep;
    const auto got = array.read<float>();
    CHECK_MESSAGE(std::memcmp(got.data(), wanted, 3 * sizeof(float)) == 0, what, " of substep ", substep,
                  ": got (", got[0], ", ", got[1], ", ", got[2], "), wanted (", wanted[0], ", ", wanted[1],
                  ", ", wanted[2], ")");
  }
};

}  // namespace novaphy::test
