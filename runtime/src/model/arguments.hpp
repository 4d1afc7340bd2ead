// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments of one builder call; every message begins with the name of the call.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include "novaphy/error.hpp"
#include "novaphy/math.hpp"

namespace novaphy {

/// "mass", or "mass[3]" for an entry of a list. Made into text only where a check fails.
struct ArgumentName {
  ArgumentName(const char* argument, std::ptrdiff_t entry = -1) : name(argument), index(entry) {}
  const char* name;
  std::ptrdiff_t index;
};
std::ostream& operator<<(std::ostream& out, const ArgumentName& argument);

class Arguments {
 public:
  explicit Arguments(const char* call) : call_(call) {}

  /// Finite as float32 too.
  void finite(const ArgumentName& name, double value) const;
  void finite(const ArgumentName& name, const Vec3f& value) const;
  void non_negative(const ArgumentName& name, double value) const;
  void positive(const ArgumentName& name, double value) const;
  void at_least(const ArgumentName& name, int value, int lowest) const;
  /// 0 <= value < count, else Error(index). `what`: "particle".
  void index(const char* name, int value, int count, const char* what) const;
  /// The same, or -1, which means `none`: "the world".
  void index_or(const char* none, const char* name, int value, int count, const char* what) const;

  /// The quaternion with length 1: as given when it is so to rounding, else divided by its length.
  Quatf rotation(const char* name, const Quatf& value) const;
  /// Empty = identity.
  Transformf pose(const char* name, const std::optional<Transformf>& value) const;
  /// The axis with length 1.
  Vec3f axis(const char* name, const Vec3f& value) const;
  /// Symmetric without negative principal moments.
  void inertia(const char* name, const Mat33f& value) const;

  template <class... Parts>
  void require(bool condition, ErrorKind kind, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      refuse(kind, parts...);
  }
  template <class... Parts>
  [[noreturn]] void refuse(ErrorKind kind, const Parts&... parts) const {
    fail(kind, call_, ": ", parts...);
  }

 private:
  const char* call_;
};

/// "(1, 2, 3)".
std::string to_string(const Vec3f& value);

}  // namespace novaphy
