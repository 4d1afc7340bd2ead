// SPDX-License-Identifier: Apache-2.0
// Names of the enumerations.
#include "novaphy/types.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "novaphy/error.hpp"

namespace novaphy {
namespace {

constexpr std::array kGeoTypes{"NONE",     "PLANE", "HFIELD", "SPHERE", "CAPSULE",    "ELLIPSOID",
                               "CYLINDER", "BOX",   "MESH",   "CONE",   "CONVEX_MESH"};
constexpr std::array kJointTypes{"PRISMATIC", "REVOLUTE", "BALL", "FIXED", "FREE", "DISTANCE", "D6"};
constexpr std::array kFrequencies{"once",
                                  "world",
                                  "particle",
                                  "spring",
                                  "tri",
                                  "edge",
                                  "tet",
                                  "muscle",
                                  "body",
                                  "shape",
                                  "shape_pair",
                                  "joint",
                                  "joint_bound",
                                  "joint_coord",
                                  "joint_dof",
                                  "articulation",
                                  "articulation_bound",
                                  "soft_contact",
                                  "rigid_contact",
                                  "particle_shape"};
static_assert(kFrequencies.size() == static_cast<std::size_t>(Frequency::particle_shape) + 1);

template <class Enum, std::size_t count>
const char* name_of(const std::array<const char*, count>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < count ? names[index] : "unknown";
}

}  // namespace

const char* to_string(GeoType type) noexcept {
  return name_of(kGeoTypes, type);
}
const char* to_string(JointType type) noexcept {
  return name_of(kJointTypes, type);
}
const char* to_string(Frequency frequency) noexcept {
  return name_of(kFrequencies, frequency);
}

Frequency parse_frequency(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kFrequencies.size(); ++i) {
    if (name == kFrequencies[i]) return static_cast<Frequency>(i);
    known += (i > 0 ? ", " : "") + std::string(kFrequencies[i]);
  }
  fail(ErrorKind::value, "frequency is '", name, "': want one of ", known);
}

}  // namespace novaphy
