// SPDX-License-Identifier: Apache-2.0
// Programs that novaphy-host runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "novaphy/array.hpp"

namespace novaphy {

/// What the host hands to a demo.
struct DemoOptions {
  int iterations = -1;                         ///< training iterations; -1 = the demo's own default
  std::map<std::string, std::string> values;   ///< further options of the command line, name -> text
};

/// A named array of a finished demo, dumped by the host as raw values with a JSON beside it.
struct DemoArray {
  std::string name;
  DeviceArray array;
};

/// One scene that can be trained. The host calls it from one thread; every function may throw Error.
class NOVAPHY_API IDemo {
 public:
  static constexpr const char* kId = "novaphy.IDemo/1";
  virtual ~IDemo();
  /// One line: what is to be seen.
  virtual std::string summary() const = 0;
  /// Called once before iterate(): builds the scene.
  virtual void build(const DemoOptions& options) = 0;
  virtual int default_iterations() const = 0;
  /// One training iteration; returns the loss before the update.
  virtual float iterate() = 0;
  /// The rollout with the present parameters; returns its loss.
  virtual float rollout() = 0;
  /// Arrays of the last rollout.
  virtual std::vector<DemoArray> arrays() const = 0;
};

}  // namespace novaphy
