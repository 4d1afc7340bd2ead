// SPDX-License-Identifier: Apache-2.0
// Products of vectors with the stiffness and damping matrices of a model's elements, from the force formulas.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// One element, as messages name it.
struct ElementName {
  const char* kind = "";  ///< "tetrahedron"
  std::int64_t index = -1;
};

/// Which matrix: the derivative of the forces with respect to positions (stiffness) or velocities (damping), with the
/// sign of forces that the elements take from the particles. Both are symmetric where the elements are at rest: for
/// damping, velocities count relative to the element's first particle, as in the laws but for the volume damping of
/// tetrahedra, which (Newton's law, 1.8) sees a volume rate in a motion of the whole body. That slows the body; a bound
/// on dt is a little safer without it (297 substeps instead of 266 for a block of 20 x 4 x 10 cells).
enum class ForceMatrix { stiffness, damping };

/// The elements of a model at rest in some positions, a row for each particle. Both must outlive it, unchanged.
class ElementProducts {
 public:
  ElementProducts(const Model& model, std::span<const Vec3f> positions) : model_(model), positions_(positions) {}

  bool empty() const noexcept;
  /// out = matrix times direction; a row for each particle.
  void multiply(ForceMatrix matrix, std::span<const Vec3f> direction, std::span<Vec3f> out) const;
  /// The element that adds most to direction . matrix . direction.
  ElementName largest_share(ForceMatrix matrix, std::span<const Vec3f> direction) const;

 private:
  /// visit(name, corners, slopes of the forces) for every element.
  template <class Visit>
  void for_each(ForceMatrix matrix, std::span<const Vec3f> direction, Visit visit) const;

  const Model& model_;
  std::span<const Vec3f> positions_;
};

}  // namespace novaphy::semi_implicit
