// SPDX-License-Identifier: Apache-2.0
// Tests of the scalar and vector operations that force laws are written with.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "novaphy/math.hpp"

namespace {

const float kNotANumber = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("min and max return the second of two zeros, so that debug and release builds agree") {
  CHECK(std::signbit(novaphy::min(0.0f, -0.0f)));
  CHECK_FALSE(std::signbit(novaphy::min(-0.0f, 0.0f)));
  CHECK(std::signbit(novaphy::max(0.0f, -0.0f)));
  CHECK_FALSE(std::signbit(novaphy::max(-0.0f, 0.0f)));
}

TEST_CASE("min and max return the number when the other is not one, as C fmin and fmax do") {
  CHECK(novaphy::min(kNotANumber, 2.0f) == 2.0f);
  CHECK(novaphy::min(2.0f, kNotANumber) == 2.0f);
  CHECK(novaphy::max(kNotANumber, 2.0f) == 2.0f);
  CHECK(novaphy::max(2.0f, kNotANumber) == 2.0f);
  CHECK(std::isnan(novaphy::max(kNotANumber, kNotANumber)));
}

TEST_CASE("normalize leaves the zero vector zero, and makes a zero quaternion the identity") {
  const novaphy::Vec3f v = normalize(novaphy::Vec3f{0.0f, 0.0f, 0.0f});
  CHECK((v.x == 0.0f && v.y == 0.0f && v.z == 0.0f));
  const novaphy::Quatf q = normalize(novaphy::Quatf{0.0f, 0.0f, 0.0f, 0.0f});
  CHECK((q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 1.0f));
}

TEST_CASE("a matrix product is a chain of fma over the inner index, the only contraction") {
  const float e = 1.0f + 0x1p-12f;  // e * e needs more than 24 bits
  const novaphy::Mat33f a{{{e, -1.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  const novaphy::Mat33f b{{{e, 0.0f, 0.0f}, {e * e, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  CHECK((a * b).m[0][0] == std::fma(-1.0f, e * e, e * e));
  const novaphy::Mat33f c{{{1.0f, e, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  const novaphy::Mat33f d{{{-(e * e), 0.0f, 0.0f}, {e, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  CHECK((c * d).m[0][0] == std::fma(e, e, -(e * e)));
  CHECK((c * d).m[0][0] != 0.0f);
}

TEST_CASE("sums of products run left to right, and a product of 2 by 2 matrices is a chain of fma") {
  const float e = 1.0f + 0x1p-12f, big = 0x1p25f;
  const novaphy::Vec4f a{big, 1.0f, -big, 1.0f}, ones{1.0f, 1.0f, 1.0f, 1.0f};
  CHECK(dot(a, ones) == 1.0f);  // the first 1 is lost in big + 1
  CHECK(dot(novaphy::Quatf{big, 1.0f, -big, 1.0f}, novaphy::Quatf{1.0f, 1.0f, 1.0f, 1.0f}) == 1.0f);
  CHECK(dot(novaphy::Spatialf{{big, 1.0f, -big}, {1.0f, big, -big}},
            novaphy::Spatialf{{1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}}) == 0.0f);
  const novaphy::Mat22f m{{{1.0f, e}, {0.0f, 1.0f}}}, n{{{-(e * e), 0.0f}, {e, 1.0f}}};
  CHECK((m * n).m[0][0] == std::fma(e, e, -(e * e)));
  CHECK((m * novaphy::Vec2f{-(e * e), e}).x == 0.0f);  // here both products are rounded
}

TEST_CASE("factors stand on either side and literals convert") {
  const novaphy::Spatialf a{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, twice = 2.0f * a;
  CHECK((twice.linear.z == 6.0f && twice.angular.x == 8.0f && (a * 2.0f).angular.z == 12.0f));
  CHECK((-(a - twice)).linear.y == 2.0f);
  const novaphy::Mat22f m = 3.0f * novaphy::Mat22f{{{1.0f, 2.0f}, {3.0f, 4.0f}}};
  CHECK((m.m[0][1] == 6.0f && (m - m).m[1][1] == 0.0f && transpose(m).m[0][1] == 9.0f));
}

TEST_CASE("inverses are cofactors times the reciprocal determinant, and zero for singular matrices") {
  const novaphy::Mat22f two = inverse(novaphy::Mat22f{{{2.0f, 1.0f}, {4.0f, 6.0f}}});
  CHECK((two.m[0][0] == 0.75f && two.m[0][1] == -0.125f && two.m[1][0] == -0.5f && two.m[1][1] == 0.25f));
  const novaphy::Mat33f three =
      inverse(novaphy::Mat33f{{{1.0f, 2.0f, 0.0f}, {0.0f, 1.0f, 4.0f}, {2.0f, 0.0f, 0.0f}}});
  const float want[3][3] = {{0.0f, 0.0f, 0.5f}, {0.5f, 0.0f, -0.25f}, {-0.125f, 0.25f, 0.0625f}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(three.m[i][j] == want[i][j]);
  CHECK(inverse(novaphy::Mat22f{{{1.0f, 2.0f}, {2.0f, 4.0f}}}).m[0][0] == 0.0f);
  CHECK(
      inverse(novaphy::Mat33f{{{1.0f, kNotANumber, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}}).m[0][0] ==
      0.0f);
}

TEST_CASE("rotating by a quaternion and back returns the vector") {
  const novaphy::Quatf q = normalize(novaphy::Quatf{0.1f, -0.2f, 0.3f, 0.9f});
  const novaphy::Vec3f v{1.0f, 2.0f, -3.0f};
  const novaphy::Vec3f back = rotate_inverse(q, rotate(q, v));
  CHECK(back.x == doctest::Approx(v.x).epsilon(1e-6));
  CHECK(back.y == doctest::Approx(v.y).epsilon(1e-6));
  CHECK(back.z == doctest::Approx(v.z).epsilon(1e-6));
}

}  // namespace
