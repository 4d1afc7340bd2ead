// SPDX-License-Identifier: Apache-2.0
// Arnoldi's iteration, then power iteration on the small matrix that it makes.
#include "src/largest_eigenvalue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace novaphy::semi_implicit {

namespace {

using Vector = std::vector<float>;

double dot(const Vector& a, const Vector& b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus<>{},
                               [](float x, float y) { return double{x} * y; });
}

void add_scaled(Vector& a, double factor, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(a[i] + factor * b[i]);
}

/// Divides by the length, which it returns.
double normalise(Vector& a) {
  const double length = std::sqrt(dot(a, a));
  if (length > 0)
    for (float& x : a) x = static_cast<float>(x / length);
  return length;
}

/// Numbers between -1 and 1 without a pattern that a mode of a grid could be orthogonal to.
Vector start(std::size_t size) {
  Vector out(size);
  std::uint32_t seed = 1;
  for (float& x : out) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return out;
}

using Matrix = std::vector<std::vector<double>>;
struct SmallPair {
  double value;
  std::vector<double> vector;
};

/// The eigenvalue of (matrix - shift) that is largest in size, plus shift.
SmallPair power_iteration(const Matrix& matrix, double shift) {
  constexpr int kMostIterations = 5000;
  constexpr double kTolerance = 1e-9;
  const std::size_t n = matrix.size();
  std::vector<double> x(n, 1.0 / std::sqrt(static_cast<double>(n))), y(n);
  double value = 0;
  for (int k = 0; k < kMostIterations; ++k) {
    for (std::size_t i = 0; i < n; ++i)
      y[i] = std::inner_product(x.begin(), x.end(), matrix[i].begin(), -shift * x[i]);
    const double next = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    const double length = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
    if (!(length > 0)) return {shift, x};
    for (std::size_t i = 0; i < n; ++i) x[i] = y[i] / length;
    const bool converged = k > 100 && std::abs(next - value) <= kTolerance * std::abs(next);
    value = next;
    if (converged) break;
  }
  return {value + shift, x};
}

/// The largest eigenvalue; where a negative eigenvalue is larger in size, past that one.
SmallPair largest_of(const Matrix& matrix) {
  const SmallPair found = power_iteration(matrix, 0.0);
  return found.value < 0 ? power_iteration(matrix, found.value) : found;
}

}  // namespace

Eigenpair largest_eigenvalue(std::size_t size, const Product& product, int steps) {
  if (size == 0) return {};
  const auto most = std::min(static_cast<std::size_t>(steps), size);
  std::vector<Vector> basis{start(size)};
  normalise(basis.front());
  Matrix hessenberg(most, std::vector<double>(most, 0.0));
  while (true) {
    const std::size_t k = basis.size() - 1;
    Vector next(size);
    product(basis[k], next);
    const double length = std::sqrt(dot(next, next));
    for (int pass = 0; pass < 2; ++pass)  // the second removes what rounding left of the first
      for (std::size_t i = 0; i <= k; ++i) {
        const double share = dot(basis[i], next);
        hessenberg[i][k] += share;
        add_scaled(next, -share, basis[i]);
      }
    const double rest = normalise(next);
    if (basis.size() == most || !(rest > 1e-5 * length)) break;  // the space is whole, or holds an eigenspace
    hessenberg[k + 1][k] = rest;
    basis.push_back(std::move(next));
  }
  hessenberg.resize(basis.size());
  for (auto& row : hessenberg) row.resize(basis.size());
  const SmallPair found = largest_of(hessenberg);
  Eigenpair out{found.value, Vector(size)};
  for (std::size_t k = 0; k < basis.size(); ++k) add_scaled(out.vector, found.vector[k], basis[k]);
  normalise(out.vector);
  return out;
}

}  // namespace novaphy::semi_implicit
