// SPDX-License-Identifier: Apache-2.0
// Derivatives beside the gradient: tangents along a recording (forward mode) and products with the Hessian.
//
//   nova::Tape tape;
//   { nova::TapeScope scope(tape); loss = f(x); }
//   const auto dloss = nova::jvp(tape, {x}, {dx}, {loss});      // d(loss) for a change dx of x
//   const auto hdx = nova::hvp(tape, loss, {x}, {dx});          // d(gradient of x) for it
#pragma once

#include <span>
#include <vector>

#include "novaphy/export.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// The tangents of `outputs` when `inputs`, as the recording first saw them, change along `tangents`. A
/// result is zero where an output does not depend on them. Runs the tangent of each recorded launch in order;
/// gradients are untouched. Needs the recording closed and its values in place, as backward does.
/// Throws Error(gradient_not_ready) while open, Error(value) for an array that the recording did not meet or
/// an input that it wrote first, Error(shape_mismatch) and Error(type) for a tangent unlike its input,
/// Error(stale_record) for a value that is gone, Error(unsupported_feature) naming a custom operation
/// without a tangent.
NOVAPHY_API std::vector<Tensor> jvp(Tape& tape, std::span<const Tensor> inputs,
                                    std::span<const Tensor> tangents, std::span<const Tensor> outputs);

/// The gradients of `inputs` for the cotangent `seed` of `output`: what Tape::backward would leave in them,
/// with every stored gradient untouched. Inputs must require gradient. A result is zero where the output does
/// not depend on an input. Errors as of Tape::backward, and Error(value) for an input that does not require
/// gradient.
NOVAPHY_API std::vector<Tensor> vjp(Tape& tape, const Tensor& output, const Tensor& seed,
                                    std::span<const Tensor> inputs);

/// The product of the Hessian of `loss`, one number, by `params` with `direction`: for each parameter the
/// change of its gradient when all change along the direction. Exact, about the cost of three backwards; the
/// gradients themselves are left as they are. Parameters must require gradient. Errors as of jvp and
/// Tape::backward.
NOVAPHY_API std::vector<Tensor> hvp(Tape& tape, const Tensor& loss, std::span<const Tensor> params,
                                    std::span<const Tensor> direction);

}  // namespace nova
