// SPDX-License-Identifier: Apache-2.0
// Graphs: launches with fixed memory and fixed order, captured once and launched often.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "novaphy/capture.hpp"
#include "novaphy/export.hpp"

namespace nova {

/// A number that a captured launch was given. Every replay uses it.
struct FrozenNumber {
  std::string operation, name;
  double value = 0;
};

/// What was captured. A handle: copies share it. One thread at a time.
class NOVAPHY_API Graph {
 public:
  /// Nothing: launch() throws.
  Graph() = default;

  /// Runs the captured operations in order, on what the arrays hold now, with the bits of the same calls made
  /// one by one: arrays that were allocated inside the capture begin with zeros, gradients add to those that
  /// are there. While a tape records, the launches are recorded as if made one by one. Throws Error(capture)
  /// where an array of the graph is held by nobody else any more (a state that was replaced), where an
  /// operation reads a gradient that is gone, while a tape records and the graph holds something without a
  /// derivative (a backward, a cleared gradient, an update), and inside a capture; Error(index) as launch()
  /// does.
  void launch() const;
  /// Operations that a launch runs.
  std::size_t op_count() const noexcept;
  /// The numbers that were frozen, in order. A number that is to change is a tensor of one row.
  std::vector<FrozenNumber> numbers() const;
  /// Bytes of the arrays that the graph owns alone.
  std::size_t memory_bytes() const noexcept;
  /// One line an operation.
  std::string text() const;

  struct State;
  explicit Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// While it is open, Nova launches of this thread are kept and not run: kernels, custom operations,
/// Tape::backward of recordings made inside, clearing of gradients, updates of parameters. Everything that
/// acts at once throws Error(capture) at that call: writes of array values by the host, reads through item(),
/// NumPy and DLPack, steps of solvers that do not support capture, collision. DeviceArray::read() gives what
/// stands there before the launch.
class NOVAPHY_API ScopedCapture {
 public:
  /// Throws Error(capture) when this thread captures already or a tape is open.
  ScopedCapture();
  /// Without finish(): nothing was captured.
  ~ScopedCapture();
  ScopedCapture(const ScopedCapture&) = delete;
  ScopedCapture& operator=(const ScopedCapture&) = delete;

  /// Ends the capture. Throws Error(capture) when a tape that was opened inside is still open.
  Graph finish();
  /// Whether the calling thread is the one that captures; the capture must end on it.
  bool is_on_this_thread() const noexcept;

 private:
  std::unique_ptr<class Capture> capture_;
};

/// True while this thread captures.
using novaphy::is_capturing;

}  // namespace nova
