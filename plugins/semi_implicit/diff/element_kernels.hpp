// SPDX-License-Identifier: Apache-2.0
// The kernels of springs, triangles, bending edges and tetrahedra.
#pragma once

#include "novaphy/nova/kernel.hpp"

namespace novaphy::semi_implicit {

/// Where a kernel of elements writes. A row kernel writes the force of corner k into an array of its own, a
/// row for each element; the forward solver adds them up.
enum class Writes { scatter, rows };

// Inputs in this order; scattered forces are subtracted from f. Elements with an index below 0 have no force.
nova::Kernel make_springs_kernel(Writes writes);     ///< x, v, ke, kd, rest_length, spring
nova::Kernel make_triangles_kernel(Writes writes);   ///< x, v, rest, material, activation, tri
nova::Kernel make_bending_kernel(Writes writes);     ///< x, v, material, rest_angle, edge
nova::Kernel make_tetrahedra_kernel(Writes writes);  ///< x, v, rest, material, activation, tet

/// The same, recorded once: those that scatter.
NOVAPHY_API const nova::Kernel& springs_kernel();
NOVAPHY_API const nova::Kernel& triangles_kernel();
NOVAPHY_API const nova::Kernel& bending_kernel();
NOVAPHY_API const nova::Kernel& tetrahedra_kernel();

}  // namespace novaphy::semi_implicit
