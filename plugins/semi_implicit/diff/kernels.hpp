// SPDX-License-Identifier: Apache-2.0
// The kernels of the differentiable particle step. Those of elements stand in diff/elements.hpp.
#pragma once

#include "novaphy/nova/kernel.hpp"
#include "novaphy/semi_implicit/formula/particle_integration.h"

namespace novaphy::semi_implicit {

/// x, v, f, flags, then append_step_inputs() -> q_out, qd_out. Models of one world all see row 0 of gravity.
const nova::Kernel& integration_kernel(bool one_world);
/// Rows are particles; the records of a particle come through tids, in the order of the shapes.
const nova::Kernel& pair_contact_kernel();
/// Kinds of the kernel whose rows are records; forces are scattered in record order.
struct RecordKernel {
  bool finds_again = false;  ///< point and normal are computed from positions and poses, not read
  bool carried = false;      ///< shapes may be on bodies
};
const nova::Kernel& record_contact_kernel(RecordKernel kind);

/// Inputs of write_step() besides motion, force and flags, and its outputs.
void append_step_inputs(nova::KernelDesc& desc, bool one_world);
/// Writes q_out and qd_out: the step of an active particle, the old motion of an inactive one.
void write_step(nova::KernelScope& k, const formula::ParticleMotion<nova::Expr>& now,
                const nova::Vec3E& force, bool one_world);

}  // namespace novaphy::semi_implicit
