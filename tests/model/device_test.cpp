// SPDX-License-Identifier: Apache-2.0
// Device names, names of enumerators.
#include <doctest/doctest.h>

#include "messages.hpp"
#include "novaphy/device.hpp"
#include "novaphy/types.hpp"

namespace novaphy {

TEST_CASE("devices are read and written as text") {
  CHECK(parse_device("cpu") == Device{});
  CHECK(parse_device("cuda") == Device{DeviceType::cuda, 0});
  CHECK(parse_device("cuda:12") == Device{DeviceType::cuda, 12});
  CHECK(to_string(Device{}) == "cpu");
  CHECK(to_string(Device{DeviceType::cuda, 1}) == "cuda:1");
}

TEST_CASE("any other device is refused") {
  for (const char* wrong :
       {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cpu:0", "cuda:99999999999"})
    CHECK_FAILS(parse_device(wrong), value,
                "device is '" + std::string(wrong) +
                    "': want \"cpu\", \"cuda\" or \"cuda:N\" with N the number of the GPU");
}

TEST_CASE("frequencies are read and written as text") {
  CHECK(parse_frequency("once") == Frequency::once);
  CHECK(parse_frequency("particle_shape") == Frequency::particle_shape);
  CHECK(std::string(to_string(Frequency::joint_dof)) == "joint_dof");
  CHECK(std::string(to_string(GeoType::CONVEX_MESH)) == "CONVEX_MESH");
  CHECK(std::string(to_string(JointType::D6)) == "D6");
  CHECK_FAILS(parse_frequency("vertex"), value,
              "frequency is 'vertex': want one of once, world, particle, spring, tri, edge, tet, muscle, "
              "body, shape, "
              "shape_pair, joint, joint_bound, joint_coord, joint_dof, articulation, articulation_bound, "
              "soft_contact, "
              "rigid_contact, particle_shape");
}

}  // namespace novaphy
