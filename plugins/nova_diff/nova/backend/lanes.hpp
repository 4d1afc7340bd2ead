// SPDX-License-Identifier: Apache-2.0
// One number of as many rows as a register of the instruction set holds, how it comes from rows in memory,
// and the tables that patches look it up in.
//
// Compiled for several instruction sets, so everything is in an anonymous namespace and nothing of the
// standard library is used.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "nova/backend/machine.hpp"
#include "nova/backend/quads.hpp"

namespace nova::machine {
namespace {

#define NOVA_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float F __attribute__((vector_size(4 * kLanes), may_alias));
typedef float UnalignedF __attribute__((vector_size(4 * kLanes), may_alias, aligned(4)));
typedef std::int32_t I __attribute__((vector_size(4 * kLanes), may_alias));
typedef std::uint32_t U __attribute__((vector_size(4 * kLanes), may_alias));

// join: quads q(0), q(4), ... into groups of four lanes. transpose_groups: in each group columns to rows, or
// back.
#if defined(__AVX512F__)
template <class Quads>
NOVA_INLINE F join(Quads q) {
  const __m512 low = _mm512_insertf32x4(_mm512_castps128_ps512(q(0)), q(4), 1);
  return _mm512_insertf32x4(_mm512_insertf32x4(low, q(8), 2), q(12), 3);
}
NOVA_INLINE void transpose_groups(F (&v)[4]) {
  const __m512 a = _mm512_unpacklo_ps(v[0], v[1]), b = _mm512_unpacklo_ps(v[2], v[3]);
  const __m512 c = _mm512_unpackhi_ps(v[0], v[1]), d = _mm512_unpackhi_ps(v[2], v[3]);
  v[0] = _mm512_shuffle_ps(a, b, 0x44), v[1] = _mm512_shuffle_ps(a, b, 0xEE);
  v[2] = _mm512_shuffle_ps(c, d, 0x44), v[3] = _mm512_shuffle_ps(c, d, 0xEE);
}
#elif defined(__AVX2__)
template <class Quads>
NOVA_INLINE F join(Quads q) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(q(0)), q(4), 1);
}
NOVA_INLINE void transpose_groups(F (&v)[4]) {
  const __m256 a = _mm256_unpacklo_ps(v[0], v[1]), b = _mm256_unpacklo_ps(v[2], v[3]);
  const __m256 c = _mm256_unpackhi_ps(v[0], v[1]), d = _mm256_unpackhi_ps(v[2], v[3]);
  v[0] = _mm256_shuffle_ps(a, b, 0x44), v[1] = _mm256_shuffle_ps(a, b, 0xEE);
  v[2] = _mm256_shuffle_ps(c, d, 0x44), v[3] = _mm256_shuffle_ps(c, d, 0xEE);
}
#else
template <class Quads>
NOVA_INLINE F join(Quads q) {
  return q(0);
}
NOVA_INLINE void transpose_groups(F (&v)[4]) {
  transpose(v[0], v[1], v[2], v[3]);
}
#endif

/// Numbers 0 .. N-1 of rows at(0) .. at(kLanes-1).
template <int N, class At>
NOVA_INLINE void load_lanes(At at, F* to) {
  // a lambda is inlined always only when it says so itself
  const auto every_fourth = [&](int k) __attribute__((always_inline)) {
    return join([&](int j) __attribute__((always_inline)) { return load_quad<N>(at(k + j)); });
  };
  F v[4] = {every_fourth(0), every_fourth(1), every_fourth(2), every_fourth(3)};
  transpose_groups(v);
#pragma GCC unroll 4
  for (int k = 0; k < N; ++k) to[k] = v[k];
}

// In each group of four lanes: lanes A and B of `a`, then C and D of `b`.
template <int A, int B, int C, int D>
NOVA_INLINE F pick(F a, F b) {
#if defined(__AVX512F__)
  return _mm512_shuffle_ps(a, b, A | B << 2 | C << 4 | D << 6);
#elif defined(__AVX2__)
  return _mm256_shuffle_ps(a, b, A | B << 2 | C << 4 | D << 6);
#elif defined(__SSE2__)
  return _mm_shuffle_ps(a, b, A | B << 2 | C << 4 | D << 6);
#else
  F out;
  for (int g = 0; g < kLanes; g += 4)
    out[g] = a[g + A], out[g + 1] = a[g + B], out[g + 2] = b[g + C], out[g + 3] = b[g + D];
  return out;
#endif
}

/// kLanes rows of three numbers, without a gap, to three columns.
NOVA_INLINE void load_triples(const Real* rows, F* to) {
  const auto quads = [&](int part) __attribute__((always_inline)) {
    return join([&](int j) __attribute__((always_inline)) { return load_quad<4>(rows + 3 * j + 4 * part); });
  };
  const F a = quads(0), b = quads(1), c = quads(2);  // x y z x, y z x y, z x y z
  const F xy = pick<2, 3, 1, 2>(b, c), yz = pick<1, 2, 0, 1>(a, b);
  to[0] = pick<0, 3, 0, 2>(a, xy), to[1] = pick<0, 2, 1, 3>(yz, xy), to[2] = pick<1, 3, 0, 3>(yz, c);
}
/// And back.
NOVA_INLINE void store_triples(Real* rows, F x, F y, F z) {
  const F xy = pick<0, 2, 0, 2>(x, y), yz = pick<1, 3, 1, 3>(y, z), zx = pick<0, 2, 1, 3>(z, x);
  const F parts[3] = {pick<0, 2, 0, 2>(xy, zx), pick<0, 2, 1, 3>(yz, xy), pick<1, 3, 1, 3>(zx, yz)};
#pragma GCC unroll 4
  for (int g = 0; g < kLanes / 4; ++g)
#pragma GCC unroll 3
    for (int part = 0; part < 3; ++part)
      store_quad<4>(rows + 12 * g + 4 * part, reinterpret_cast<const Quad*>(&parts[part])[g]);
}

// Tables: numbers 0 .. 3 of each vertex of a patch. With registers of 16 numbers a table is a column of 64
// for each number, which two permutations look up; else it is rows, which are read and transposed.
#if defined(__AVX512F__)
template <int N>
NOVA_INLINE void fill_table(const Real* rows, int width, const std::int32_t* vertices, int count,
                            Real* table) {
  alignas(16) static constexpr Real kNoRow[4] = {};
  for (int i = 0; i < count; i += kLanes) {
    F to[N];
    load_lanes<N>(
        [&](int j) { return vertices[i + j] < 0 ? kNoRow : rows + std::int64_t{vertices[i + j]} * width; },
        to);
    for (int k = 0; k < N; ++k) *reinterpret_cast<F*>(table + k * kPatchVertices + i) = to[k];
  }
}
template <int N>
NOVA_INLINE void look_up(const Real* table, const std::uint8_t* local, F* to) {
  const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(local)));
  const __mmask16 high = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
#pragma GCC unroll 4
  for (int k = 0; k < N; ++k, table += kPatchVertices) {
    const __m512 low_half = _mm512_permutex2var_ps(_mm512_load_ps(table), at, _mm512_load_ps(table + 16));
    const __m512 high_half =
        _mm512_permutex2var_ps(_mm512_load_ps(table + 32), at, _mm512_load_ps(table + 48));
    to[k] = _mm512_mask_blend_ps(high, low_half, high_half);
  }
}
#else
template <int N>
NOVA_INLINE void fill_table(const Real* rows, int width, const std::int32_t* vertices, int count,
                            Real* table) {
  for (int i = 0; i < count; ++i)
    *reinterpret_cast<Quad*>(table + 4 * i) =
        vertices[i] < 0 ? Quad{} : load_quad<N>(rows + std::int64_t{vertices[i]} * width);
}
template <int N>
NOVA_INLINE void look_up(const Real* table, const std::uint8_t* local, F* to) {
  F row[4];
  load_lanes<4>([=](int j) { return table + 4 * local[j]; }, row);
  for (int k = 0; k < N; ++k) to[k] = row[k];
}
#endif

}  // namespace
}  // namespace nova::machine
