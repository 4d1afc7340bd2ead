// SPDX-License-Identifier: Apache-2.0
// What both semi-implicit solvers check: the model at construction, the arguments at each step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// What a particle step leaves where it is.
enum class Element { muscle, body, joint, carried_shape, other_shape };

struct Unstepped {
  Element element;
  int count;
};

/// Whether forces move `body`; false for the world, -1, and for kinematic bodies.
NOVAPHY_API bool is_dynamic(const Model& model, std::int32_t body);

/// Everything in the model that a particle step leaves out, shapes excepted; empty = nothing.
NOVAPHY_API std::vector<Unstepped> unstepped_elements(const Model& model);
/// Shapes that meet particles and are carried by a dynamic body, and those that are neither plane, box,
/// sphere nor capsule.
NOVAPHY_API std::vector<Unstepped> unsupported_shapes(const Model& model);
/// Throws Error(index) for a particle of a world, a shape on a body, or an element of particles that the
/// model does not have.
NOVAPHY_API void check_owners(const char* who, const Model& model);

/// Throws Error(value) for a stiffness or damping of an element that is negative or no number, with the
/// element's kind and index.
NOVAPHY_API void check_materials(const char* who, const Model& model);

/// How far the elements are activated, one number for each triangle and each tetrahedron.
struct Activations {
  const DeviceArray &triangles, &tetrahedra;
};

/// Those of `control` where there is one, else of the model. Throws Error(shape_mismatch) for a control with
/// other counts than the model. `who` begins the message.
NOVAPHY_API Activations activations_of(const char* who, const Model& model, const Control* control);

/// Remembers for which content of arrays a model has passed its checks: of those that the checks of elements,
/// shapes and owners read, or of materials.
class NOVAPHY_API CheckedModel {
 public:
  enum class Reads { structure, materials };
  explicit CheckedModel(Reads reads = Reads::structure) : reads_(reads) {}
  /// Whether that content is still there. Never, where somebody can write it unseen.
  bool is_current(const Model& model) const;
  void note(const Model& model);

 private:
  Reads reads_;
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
