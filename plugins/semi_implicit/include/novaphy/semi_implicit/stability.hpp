// SPDX-License-Identifier: Apache-2.0
// How long a step of the semi-implicit solvers may be, told before the first one.
#pragma once

#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// A bound on dt [s]; infinite where nothing bounds it.
struct StabilityLimit {
  std::string name;
  double max_dt;
};

/// What is known about dt [s] before the first step.
///
/// Symplectic Euler with x'' = -w^2 x - c x' is stable where 2 c dt + w^2 dt^2 < 4. `limits` by name: "elastic" (w^2 =
/// largest eigenvalue of M^-1 K of springs, triangles, bending edges and tetrahedra), "damping" (c = that of M^-1 C),
/// "elements" (both together), "contact" (the lightest particle on the stiffest shape that it may touch), "particle
/// contact" (two of the lightest, where the model has a particle grid) and "friction" (from kf; beyond it a resting particle creeps and trembles within its cone of friction, but nothing diverges, so
/// it is no part of max_dt). Forces of plugins, bodies and joints are not looked at.
struct StabilityReport {
  double dt = 0.0;
  double max_dt = 0.0;  ///< the least limit but "friction"; infinite where nothing bounds it
  std::vector<StabilityLimit> limits;
  std::string worst_element;  ///< that with the largest share in the mode that bounds dt; empty = none
  bool ok = true;             ///< dt <= max_dt, no element collapses, no particles overlap that act on each other
  std::string text;           ///< all of it in sentences: what, where, limit, present value, what to change
};

/// Of the elements in the positions of `state`, null = the model's own, at rest. Costs about seventy evaluations of the
/// forces. The
/// eigenvalues are found to better than 5 %. `contacts` off: steps are given none, so contact bounds nothing. Throws Error(value) for a dt that is not positive.
NOVAPHY_API StabilityReport stability_report(const Model& model, float dt, const SimState* state = nullptr,
                                             bool contacts = true);

/// The text in the log as a warning that begins with `who`, when the report is not ok; once for each model, dt and
/// `contacts` in the process.
NOVAPHY_API void warn_if_unstable(const char* who, const Model& model, const SimState& state, float dt, bool contacts);

}  // namespace novaphy::semi_implicit
