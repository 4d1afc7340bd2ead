// SPDX-License-Identifier: Apache-2.0
// Enumerations of the data model, with Newton's numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "novaphy/export.hpp"

namespace novaphy {

enum class Axis : int { X = 0, Y = 1, Z = 2 };

enum class GeoType : std::int32_t {
  NONE = 0, PLANE = 1, HFIELD = 2, SPHERE = 3, CAPSULE = 4, ELLIPSOID = 5, CYLINDER = 6, BOX = 7, MESH = 8, CONE = 9, CONVEX_MESH = 10
};

enum class JointType : std::int32_t { PRISMATIC = 0, REVOLUTE = 1, BALL = 2, FIXED = 3, FREE = 4, DISTANCE = 5, D6 = 6 };

enum class JointTargetMode : std::int32_t { NONE = 0, POSITION = 1, VELOCITY = 2, POSITION_VELOCITY = 3, EFFORT = 4 };

/// Bits of Model::particle_flags.
struct ParticleFlags {
  static constexpr std::int32_t ACTIVE = 1 << 0;
};
/// Bits of Model::shape_flags.
struct ShapeFlags {
  static constexpr std::int32_t VISIBLE = 1 << 0, COLLIDE_SHAPES = 1 << 1, COLLIDE_PARTICLES = 1 << 2, SITE = 1 << 3;
};
/// Bits of Model::body_flags.
struct BodyFlags {
  static constexpr std::int32_t DYNAMIC = 1 << 0, KINEMATIC = 1 << 1;
};

/// What a row of an array stands for.
enum class Frequency : std::int32_t {
  once = 0, world, particle, spring, tri, edge, tet, muscle, body, shape, shape_pair, joint, joint_bound, joint_coord, joint_dof,
  articulation, articulation_bound, soft_contact, rigid_contact, particle_shape,
};

/// "PLANE", "REVOLUTE", "particle" and so on: the enumerators' names.
NOVAPHY_API const char* to_string(GeoType type) noexcept;
NOVAPHY_API const char* to_string(JointType type) noexcept;
NOVAPHY_API const char* to_string(Frequency frequency) noexcept;
/// Throws Error(value) with the list of names.
NOVAPHY_API Frequency parse_frequency(std::string_view name);

}  // namespace novaphy
