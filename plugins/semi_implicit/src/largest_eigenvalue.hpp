// SPDX-License-Identifier: Apache-2.0
// The largest eigenvalue of an operator that is only known by its products with vectors.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace novaphy::semi_implicit {

struct Eigenpair {
  double value = 0.0;
  std::vector<float> vector;  ///< of length 1
};

/// out = operator times in.
using Product = std::function<void(std::span<const float> in, std::span<float> out)>;

/// By Arnoldi's iteration with at most `steps` products (Saad, Numerical Methods for Large Eigenvalue Problems, 6.2):
/// the largest eigenvalue of the operator on the space that they span, which is a lower bound for symmetric operators.
/// The start is the same every time. Eigenvalues must be real.
Eigenpair largest_eigenvalue(std::size_t size, const Product& product, int steps);

}  // namespace novaphy::semi_implicit
