// SPDX-License-Identifier: Apache-2.0
// Moves rows of up to four numbers between memory and columns, four rows at a time.
//
// Compiled for several instruction sets, so everything is in an anonymous namespace and nothing of the
// standard library is used.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "nova/backend/machine.hpp"

namespace nova::machine {
namespace {

typedef float Real __attribute__((may_alias));
typedef std::uint32_t Word __attribute__((may_alias));
typedef float Quad __attribute__((vector_size(16), may_alias));
typedef float UnalignedQuad __attribute__((vector_size(16), may_alias, aligned(4)));
typedef std::int32_t QuadIndex __attribute__((vector_size(16)));

/// N numbers and 4 - N zeros; touches nothing behind them.
template <int N>
inline Quad load_quad(const Real* p) {
  if constexpr (N == 4) return *reinterpret_cast<const UnalignedQuad*>(p);
#if defined(__SSE2__)
  if constexpr (N == 1) return _mm_load_ss(p);
  const Quad two = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  if constexpr (N == 3) return _mm_movelh_ps(two, _mm_load_ss(p + 2));
  return two;
#else
  return Quad{p[0], N > 1 ? p[1] : 0.0f, N > 2 ? p[2] : 0.0f, 0.0f};
#endif
}

/// The first N numbers.
template <int N>
inline void store_quad(Real* p, Quad v) {
  if constexpr (N == 4) {
    *reinterpret_cast<UnalignedQuad*>(p) = v;
    return;
  }
#if defined(__SSE2__)
  if constexpr (N > 1) _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_castps_si128(v));
  if constexpr (N == 1) _mm_store_ss(p, v);
  if constexpr (N == 3) _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
#else
  for (int k = 0; k < N; ++k) p[k] = v[k];
#endif
}

inline void transpose(Quad& a, Quad& b, Quad& c, Quad& d) {
  const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5),
  d = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

/// Numbers 0 .. N-1 of rows at(0) .. at(n-1) into N columns of n numbers each.
template <int N, class At>
inline void columns_of_rows(At at, int n, Real* const* to) {
  int j = 0;
  if constexpr (N > 1)
    for (; j + 4 <= n; j += 4) {
      Quad q[4] = {load_quad<N>(at(j)), load_quad<N>(at(j + 1)), load_quad<N>(at(j + 2)),
                   load_quad<N>(at(j + 3))};
      transpose(q[0], q[1], q[2], q[3]);
      for (int k = 0; k < N; ++k) store_quad<4>(to[k] + j, q[k]);
    }
  for (; j < n; ++j) {
    const Real* const row = at(j);
    for (int k = 0; k < N; ++k) reinterpret_cast<Word*>(to[k])[j] = reinterpret_cast<const Word*>(row)[k];
  }
}

/// Four columns of n numbers into n rows of four.
inline void rows_of_columns(const Real* const* from, int n, Real* rows) {
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    Quad q[4];
    for (int k = 0; k < 4; ++k) q[k] = load_quad<4>(from[k] + j);
    transpose(q[0], q[1], q[2], q[3]);
    for (int k = 0; k < 4; ++k) store_quad<4>(rows + 4 * (j + k), q[k]);
  }
  for (; j < n; ++j)
    for (int k = 0; k < 4; ++k) rows[4 * j + k] = from[k][j];
}

/// Four columns of n numbers into the places that corners `first` .. `first + n - 1` have (corner_place).
inline void corners_of_columns(const Real* const* from, int first, int n, Real* corners) {
  int j = 0;
  for (; j + 4 <= n && first % 4 == 0; j += 4) {
    Quad q[4];
    for (int k = 0; k < 4; ++k) q[k] = load_quad<4>(from[k] + j);
    transpose(q[0], q[1], q[2], q[3]);
    for (int k = 0; k < 4; ++k) store_quad<4>(corners + 4 * corner_place(first + j + k), q[k]);
  }
  for (; j < n; ++j)
    for (int k = 0; k < 4; ++k) corners[4 * corner_place(first + j) + k] = from[k][j];
}

}  // namespace
}  // namespace nova::machine
