// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments of one builder call.
#include "model/arguments.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace novaphy {
namespace {

constexpr double kUnitTolerance = 1e-3;      // a quaternion further from length 1 is a mistake, not rounding
constexpr double kRoundingTolerance = 1e-6;  // nearer to length 1 its components stay as they are

std::string counted(int count, const std::string& what) {
  if (count == 1) return "1 " + what;
  return std::to_string(count) + " " + (what == "body" ? "bodies" : what + "s");
}

bool is_finite(double value) {
  return std::isfinite(static_cast<float>(value));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ArgumentName& argument) {
  out << argument.name;
  if (argument.index >= 0) out << '[' << argument.index << ']';
  return out;
}

std::string to_string(const Vec3f& value) {
  return text("(", value.x, ", ", value.y, ", ", value.z, ")");
}

void Arguments::finite(const ArgumentName& name, double value) const {
  require(is_finite(value), ErrorKind::value, name, " is ", value, ": want a finite number");
}

void Arguments::finite(const ArgumentName& name, const Vec3f& value) const {
  if (is_finite(value.x) && is_finite(value.y) && is_finite(value.z)) return;
  refuse(ErrorKind::value, name, " is ", to_string(value), ": want finite numbers");
}

void Arguments::non_negative(const ArgumentName& name, double value) const {
  require(is_finite(value) && value >= 0, ErrorKind::value, name, " is ", value,
          ": want a finite number of at least 0");
}

void Arguments::positive(const ArgumentName& name, double value) const {
  require(is_finite(value) && value > 0, ErrorKind::value, name, " is ", value,
          ": want a finite number above 0");
}

void Arguments::at_least(const ArgumentName& name, int value, int lowest) const {
  require(value >= lowest, ErrorKind::value, name, " is ", value, ": want at least ", lowest);
}

void Arguments::index(const char* name, int value, int count, const char* what) const {
  if (value >= 0 && value < count) return;
  require(count > 0, ErrorKind::index, name, " is ", value, ": there is no ", what, " yet");
  refuse(ErrorKind::index, name, " is ", value, ": the builder has ", counted(count, what),
         ", want an index from 0 to ", count - 1);
}

void Arguments::index_or(const char* none, const char* name, int value, int count, const char* what) const {
  if (value >= -1 && value < count) return;
  require(count > 0, ErrorKind::index, name, " is ", value, ": there is no ", what, " yet, want -1 (", none,
          ")");
  refuse(ErrorKind::index, name, " is ", value, ": the builder has ", counted(count, what), ", want -1 (",
         none, ") or an index from 0 to ", count - 1);
}

Quatf Arguments::rotation(const char* name, const Quatf& value) const {
  const double x = value.x, y = value.y, z = value.z, w = value.w;
  const double length = std::sqrt(x * x + y * y + z * z + w * w);
  require(std::abs(length - 1) <= kUnitTolerance, ErrorKind::value, name, " is the quaternion (", x, ", ", y,
          ", ", z, ", ", w, ") of length ", length, ": want x, y, z, w of length 1");
  if (std::abs(length - 1) <= kRoundingTolerance) return value;
  return {static_cast<float>(x / length), static_cast<float>(y / length), static_cast<float>(z / length),
          static_cast<float>(w / length)};
}

Transformf Arguments::pose(const char* name, const std::optional<Transformf>& value) const {
  if (!value) return {{0, 0, 0}, {0, 0, 0, 1}};
  finite(name, value->p);
  return {value->p, rotation(name, value->q)};
}

Vec3f Arguments::axis(const char* name, const Vec3f& value) const {
  finite(name, value);
  const Vec3f unit = normalize(value);
  require(dot(unit, unit) > 0.5f, ErrorKind::value, name, " is ", to_string(value),
          ": want an axis whose length is not 0");
  return unit;
}

void Arguments::inertia(const char* name, const Mat33f& value) const {
  Eigen::Matrix3d matrix;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      finite(name, value.m[i][j]);
      matrix(i, j) = value.m[i][j];
    }
  const double tolerance = 1e-5 * matrix.cwiseAbs().maxCoeff();
  require((matrix - matrix.transpose()).cwiseAbs().maxCoeff() <= tolerance, ErrorKind::value, name,
          " is not symmetric: want a symmetric 3x3 matrix");
  const double lowest = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix).eigenvalues().minCoeff();
  require(lowest >= -tolerance, ErrorKind::value, name, " has the principal moment ", lowest,
          " kg m^2: want none below 0");
}

}  // namespace novaphy
