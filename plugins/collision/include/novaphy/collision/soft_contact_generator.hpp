// SPDX-License-Identifier: Apache-2.0
// Particle-shape contact records from the poses of a state.
#pragma once

#include <cstdint>
#include <vector>

#include "novaphy/math.hpp"
#include "novaphy/model.hpp"

namespace novaphy {

/// Whether particles can meet shapes of this type: PLANE, BOX, SPHERE and CAPSULE.
NOVAPHY_API bool has_particle_distance(GeoType type);

/// Whether things of these worlds meet: equal ones do, and -1 is in every world.
inline bool share_a_world(std::int32_t a, std::int32_t b) {
  return a < 0 || b < 0 || a == b;
}

/// Throws Error(unsupported_feature), naming the shape, when particles could meet a shape of a type that has
/// no distance function here.
NOVAPHY_API void require_particle_distance_functions(const Model& model);

/// Writes the soft_contact_* arrays of a Contacts. Records come shape by shape, particles ascending, whatever
/// the number of threads. Keeps its buffers between calls; one thread at a time.
class NOVAPHY_API SoftContactGenerator {
 public:
  /// A particle within radius + shape margin + `margin` [m] of a shape gets a record.
  void generate(const Model& model, const SimState& state, float margin, Contacts& contacts);

  /// (shape, particle) pairs a task. Results do not depend on it.
  void set_grain(std::int64_t pairs) { grain_ = pairs; }

 private:
  struct PlacedShape;
  struct Record {
    std::int32_t particle, shape;
    Vec3f point, normal;
  };

  void place_shapes(const Model& model, const SimState& state);
  void find_contacts(const Model& model, const SimState& state, float margin);
  void write_records(const Model& model, Contacts& contacts);

  std::int64_t grain_ = 4096;
  std::vector<PlacedShape> shapes_;         ///< those that meet particles, ascending
  std::vector<std::vector<Record>> found_;  ///< one list a task, in pair order
  std::vector<std::int64_t> first_slot_;    ///< of each list
};

/// A shape where it is now.
struct SoftContactGenerator::PlacedShape {
  std::int32_t index, world;
  GeoType type;
  Vec3f scale;
  float margin;
  Transformf in_body;  ///< in the world if it has no body
  Quatf rotation;      ///< in the world
  Transformf from_world;
};

}  // namespace novaphy
