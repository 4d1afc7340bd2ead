// SPDX-License-Identifier: Apache-2.0
// What both semi-implicit solvers check: the model at construction, the arguments at each step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// What a particle step leaves where it is.
enum class Element { spring, triangle, edge, tetrahedron, muscle, body, joint, carried_shape, other_shape };

struct Unstepped {
  Element element;
  int count;
};

/// Everything in the model that a particle step leaves out, shapes excepted; empty = nothing.
NOVAPHY_API std::vector<Unstepped> unstepped_elements(const Model& model);
/// Shapes that meet particles and are carried by a dynamic body, and those that are neither plane, box, sphere nor
/// capsule.
NOVAPHY_API std::vector<Unstepped> unsupported_shapes(const Model& model);
/// Throws Error(index) for a particle of a world, or a shape on a body, that the model does not have.
NOVAPHY_API void check_owners(const char* who, const Model& model);

/// Remembers for which content of the arrays that the checks above read a model has passed them.
class NOVAPHY_API CheckedModel {
 public:
  /// Whether that content is still there. Never, where somebody can write it unseen.
  bool is_current(const Model& model) const;
  void note(const Model& model);

 private:
  std::uint64_t versions_ = ~std::uint64_t{0};
};

/// "8 springs, 2 joints and 1 dynamic body".
NOVAPHY_API std::string listed(const std::vector<Unstepped>& parts);

/// Throws Error(value) unless 0 < dt < infinity, and Error(shape_mismatch) when a state or the contacts have
/// other counts than the model. `who` begins the messages, as in "SolverSemiImplicit.step".
NOVAPHY_API void check_step(const char* who, const Model& model, const SimState& state_in,
                            const SimState& state_out, const Contacts* contacts, float dt);

/// Copies bodies and joints, which a particle step leaves where they are. Nothing when the states are the
/// same object.
NOVAPHY_API void carry_over(const SimState& state_in, SimState& state_out);

}  // namespace novaphy::semi_implicit
