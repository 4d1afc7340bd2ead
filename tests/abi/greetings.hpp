// SPDX-License-Identifier: Apache-2.0
// An experimental interface in two versions, as an SDK header would hold them for one minor release.
#pragma once

#include <string>
#include <string_view>

namespace novaphy::x {

class __attribute__((visibility("default"))) Greeting1 {
 public:
  static constexpr const char* kId = "novaphy.x.Greeting/1";
  virtual ~Greeting1() = default;
  virtual std::string greet() const = 0;
};

class __attribute__((visibility("default"))) Greeting2 {
 public:
  static constexpr const char* kId = "novaphy.x.Greeting/2";
  virtual ~Greeting2() = default;
  virtual std::string greet(std::string_view whom) const = 0;
};

}  // namespace novaphy::x
