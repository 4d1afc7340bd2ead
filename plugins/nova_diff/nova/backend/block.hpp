// SPDX-License-Identifier: Apache-2.0
// What compiled kernels are written with: a number of as many rows as the instruction set holds, and how such
// numbers reach memory. Included by generated sources once for each instruction set.
//
// Everything is in an anonymous namespace and uses nothing of the standard library: two instruction sets must
// not share a function.
#pragma once

#include <cstdint>

#include "nova/backend/machine.hpp"
#include "nova/backend/lanes.hpp"
#include "nova/backend/sums.hpp"

namespace nova::machine {
namespace {

#include "nova/backend/operations.inc"

NOVA_INLINE F constant(std::uint32_t bits) {
  return (F)(U{} + bits);
}
NOVA_INLINE F minimum(F a, F b) {
  return ((a < b) | (b != b)) ? a : b;
}
NOVA_INLINE F maximum(F a, F b) {
  return ((a > b) | (b != b)) ? a : b;
}
NOVA_INLINE F zmul(F a, F b) {
  return (a == F{}) ? F{} : a * b;
}
NOVA_INLINE F zdiv(F a, F b) {
  return (a == F{}) ? F{} : a / b;
}

#if defined(__AVX512F__)
NOVA_INLINE F fma(F a, F b, F c) {
  return _mm512_fmadd_ps(a, b, c);
}
NOVA_INLINE F root(F a) {
  return _mm512_sqrt_ps(a);
}
#elif defined(__AVX2__)
NOVA_INLINE F fma(F a, F b, F c) {
  return _mm256_fmadd_ps(a, b, c);
}
NOVA_INLINE F root(F a) {
  return _mm256_sqrt_ps(a);
}
#else
NOVA_INLINE F fma(F a, F b, F c) {
  F out;
  const auto word = [](F& x) { return reinterpret_cast<Word*>(&x); };
  for (int j = 0; j < kLanes; j += Vector::kLanes)
    round(Fused::of<Vector>(widen(word(a) + j), widen(word(b) + j), widen(word(c) + j)), word(out) + j);
  return out;
}
NOVA_INLINE F root(F a) {
  F out;
  for (int k = 0; k < kLanes; ++k) out[k] = __builtin_sqrtf(a[k]);
  return out;
}
#endif

/// An elementary function.
template <class Function, class... Operands>
NOVA_INLINE F call(F a, Operands... more) {
  F out;
  many<Function>(reinterpret_cast<const Word*>(&a), reinterpret_cast<const Word*>(&more)...,
                 reinterpret_cast<Word*>(&out), kLanes);
  return out;
}
/// An operation on one number at a time.
template <class Operation>
NOVA_INLINE F each(Operation operation, F a, F b = F{}) {
  F out;
  for (int k = 0; k < kLanes; ++k)
    reinterpret_cast<Word*>(&out)[k] =
        operation(reinterpret_cast<const Word*>(&a)[k], reinterpret_cast<const Word*>(&b)[k]);
  return out;
}
NOVA_INLINE F quotient(F a, F b) {
  return each(
      [](Word x, Word y) { return static_cast<Word>(divide(static_cast<int>(x), static_cast<int>(y))); }, a,
      b);
}
NOVA_INLINE F rest(F a, F b) {
  return each(
      [](Word x, Word y) { return static_cast<Word>(remainder(static_cast<int>(x), static_cast<int>(y))); },
      a, b);
}
NOVA_INLINE F lower(F a) {
  return each([](Word x, Word) { return __builtin_bit_cast(Word, round_down(__builtin_bit_cast(float, x))); },
              a);
}
NOVA_INLINE F integers(F a) {
  return each([](Word x, Word) { return static_cast<Word>(to_integer(__builtin_bit_cast(float, x))); }, a);
}

/// kLanes rows at most: [row, row + n), and in a loop the domain index s.
struct Block {
  NOVA_INLINE Block(const Binding& binding, const PatchView& patch_view, std::int64_t first, std::int64_t end)
      : b(binding),
        view(patch_view),
        row(first),
        n(end - first < kLanes ? static_cast<int>(end - first) : kLanes) {}

  // Numbers component .. component + N - 1 of the row of an argument that each row of the block sees. A row
  // behind the last one is the last one again.
  template <int N>
  NOVA_INLINE void read_row(int argument, int width, int component, F* to) const {
    read_rows<N>(argument, width, component, row, to);
  }
  template <int N>
  NOVA_INLINE void read_pair(int argument, int width, int component, F* to) const {
    read_rows<N>(argument, width, component, row + s * b.rows, to);
  }
  template <int N>
  NOVA_INLINE void read_uniform(int argument, int component, F* to) const {
    read_one<N>(static_cast<const Real*>(b.arguments[argument]) + component, to);
  }
  template <int N>
  NOVA_INLINE void read_domain(int argument, int width, int component, F* to) const {
    read_one<N>(static_cast<const Real*>(b.arguments[argument]) + s * width + component, to);
  }
  template <int N>
  NOVA_INLINE void read_gather(int argument, int width, int component, int index, int index_width, int column,
                               F* to) const {
    gather<N>(argument, width, component, index, index_width, column, row, to);
  }
  template <int N>
  NOVA_INLINE void read_gather_pair(int argument, int width, int component, int index, int index_width,
                                    int column, F* to) const {
    gather<N>(argument, width, component, index, index_width, column, row + s * b.rows, to);
  }
  template <int N>
  NOVA_INLINE void read_patch(int table, int column, F* to) const {
    look_up<N>(view.tables + table * kPatchVertices * 4,
               view.patch->local + column * view.patch->stride + (row - view.patch->first), to);
  }

  // Numbers of 8 bits, one a row.
  NOVA_INLINE void read_row_bytes(int argument, F* to) const {
    read_bytes(
        argument, [&](int j) { return row + j; }, to);
  }
  NOVA_INLINE void read_pair_bytes(int argument, F* to) const {
    read_bytes(
        argument, [&](int j) { return row + s * b.rows + j; }, to);
  }
  NOVA_INLINE void read_uniform_bytes(int argument, F* to) const {
    read_bytes(
        argument, [](int) { return std::int64_t{0}; }, to);
  }
  NOVA_INLINE void read_domain_bytes(int argument, F* to) const {
    read_bytes(
        argument, [&](int) { return s; }, to);
  }
  NOVA_INLINE void read_gather_bytes(int argument, int index, int index_width, int column, F* to) const {
    read_bytes(
        argument, [&](int j) { return target(index, (row + j) * index_width + column); }, to);
  }
  NOVA_INLINE void read_gather_pair_bytes(int argument, int index, int index_width, int column, F* to) const {
    read_bytes(
        argument, [&](int j) { return target(index, (row + s * b.rows + j) * index_width + column); }, to);
  }

  NOVA_INLINE void set(int output, int width, int component, F x) const {
    Word* const to = static_cast<Word*>(b.outputs[output]) + row * width + component;
    for (int j = 0; j < n; ++j) to[j * width] = reinterpret_cast<const Word*>(&x)[j];
  }
  /// N numbers that lie side by side.
  template <int N>
  NOVA_INLINE void set_row(int output, int width, int component, F x, F y, F z = F{}, F w = F{}) const {
    Real* const to = static_cast<Real*>(b.outputs[output]) + row * width + component;
    if (N == 3 && width == 3 && n == kLanes) return store_triples(to, x, y, z);
    F v[4] = {x, y, z, w};
    transpose_groups(v);
    for (int j = 0; j < n; ++j)
      store_quad<N>(to + j * width, reinterpret_cast<const Quad*>(&v[j % 4])[j / 4]);
  }
  NOVA_INLINE void add(int output, int width, int component, F x) const {
    add_rows(output, width, component, row, x);
  }
  NOVA_INLINE void add_pair(int output, int width, int component, F x) const {
    add_rows(output, width, component, row + s * b.rows, x);
  }
  NOVA_INLINE void sum_row(std::int64_t slot, F x) const {
    add_to_leaf(b, slot, row, n, reinterpret_cast<const Real*>(&x));
  }
  NOVA_INLINE void sum_loop(std::int64_t slot, F x) const {
    add_to_leaf(b, b.row_sums + slot * b.domain + s, row, n, reinterpret_cast<const Real*>(&x));
  }
  NOVA_INLINE void stage_pair(std::int64_t slot, F x) const {
    Word* const to = reinterpret_cast<Word*>(b.staged_loop) + (slot * b.domain + s) * b.rows + row;
    for (int j = 0; j < n; ++j) to[j] = reinterpret_cast<const Word*>(&x)[j];
  }
  NOVA_INLINE void stage_corner(std::int64_t corner, F x, F y, F z, F w) const {
    Real* const to = b.staged_row + (corner * b.rows + row) * 4;
    for (int j = 0; j < n; ++j)
      to[4 * j] = x[j], to[4 * j + 1] = y[j], to[4 * j + 2] = z[j], to[4 * j + 3] = w[j];
  }
  NOVA_INLINE void corner(int piece, int column, int columns, F x, F y, F z, F w) const {
    F v[4] = {x, y, z, w};
    transpose_groups(v);
    const std::int64_t at = row - view.patch->first, block = at / 16 * 16;
    Real* const to = view.corners + (piece * corner_rows(columns) + column * view.patch->stride + block) * 4;
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) *reinterpret_cast<UnalignedF*>(to + 4 * (4 * k + (at - block) / 4)) = v[k];
  }

  const Binding& b;
  const PatchView& view;
  std::int64_t row, s = 0;
  int n;

 private:
  static constexpr Real kNoRow[4] = {};

  template <int N, class At>
  NOVA_INLINE void read(At at, F* to) const {
    if (n == kLanes)
      load_lanes<N>(at, to);
    else
      load_lanes<N>([&](int j) { return at(j < n ? j : n - 1); }, to);
  }
  template <int N>
  NOVA_INLINE void read_rows(int argument, int width, int component, std::int64_t first, F* to) const {
    const Real* const from = static_cast<const Real*>(b.arguments[argument]) + first * width + component;
    if (N == 1 && width == 1 && n == kLanes)
      to[0] = *reinterpret_cast<const UnalignedF*>(from);
    else if (N == 3 && width == 3 && n == kLanes)
      load_triples(from, to);
    else
      read<N>([&](int j) { return from + j * width; }, to);
  }
  template <int N>
  NOVA_INLINE void gather(int argument, int width, int component, int index, int index_width, int column,
                          std::int64_t first, F* to) const {
    const Real* const from = static_cast<const Real*>(b.arguments[argument]) + component;
    const Word* const at = static_cast<const Word*>(b.arguments[index]) + first * index_width + column;
    read<N>(
        [&](int j) {
          const std::int64_t target = static_cast<std::int32_t>(at[j * index_width]);
          return target < 0 ? static_cast<const Real*>(kNoRow) : from + target * width;
        },
        to);
  }
  NOVA_INLINE std::int64_t target(int index, std::int64_t at) const {
    return static_cast<const std::int32_t*>(b.arguments[index])[at];
  }
  template <class At>
  NOVA_INLINE void read_bytes(int argument, At at, F* to) const {
    const auto* const from = static_cast<const unsigned char*>(b.arguments[argument]);
    Word* const words = reinterpret_cast<Word*>(to);
    for (int j = 0; j < kLanes; ++j) {
      const std::int64_t place = at(j < n ? j : n - 1);
      words[j] = place < 0 ? 0 : from[place];
    }
  }
  template <int N>
  NOVA_INLINE void read_one(const Real* from, F* to) const {
    for (int k = 0; k < N; ++k) to[k] = constant(reinterpret_cast<const Word*>(from)[k]);
  }
  NOVA_INLINE void add_rows(int output, int width, int component, std::int64_t first, F x) const {
    Real* const to = static_cast<Real*>(b.outputs[output]) + first * width + component;
    for (int j = 0; j < n; ++j) to[j * width] += x[j];
  }
};

}  // namespace
}  // namespace nova::machine
