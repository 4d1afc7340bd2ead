// SPDX-License-Identifier: Apache-2.0
// Tracer: a recording that finds out its arguments while the body runs, for front ends of other languages.
//
// The body names parameters; how often and through which index each is reached shows only when the body has
// run. finish() turns every use into an argument of the program: one for row e, one for each run of columns
// of an index that the parameter is gathered through.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "novaphy/export.hpp"
#include "novaphy/nova/expr.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {

/// A kernel and how a launch is put together: input i of the kernel is what was given for parameter
/// `inputs[i]`, output k is that of the declared output `outputs[k]`.
struct TracedKernel {
  Kernel kernel;
  std::vector<std::uint32_t> inputs, outputs;
};

/// Records while it lives, on the thread that made it; innermost first. Every method throws Error(trace).
class NOVAPHY_API Tracer {
 public:
  using Nodes = std::span<const std::uint32_t>;

  explicit Tracer(std::string_view name);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  /// The tracer of this thread; `user` begins the message where there is none.
  static Tracer& active(std::string_view user);

  /// `reach` is row, uniform, value or domain. Returns the parameter's number.
  std::uint32_t parameter(std::string_view name, Row row, Reach reach, bool is_static);
  Row row_of_parameter(std::uint32_t parameter) const;
  /// Row e, row 0, the number, or row s of the domain.
  std::vector<std::uint32_t> read(std::uint32_t parameter);
  /// `value` is what read() gave for a row parameter, `index` a number of an integer row parameter: the row
  /// of the former that the latter names.
  std::vector<std::uint32_t> gather(Nodes value, Int index);

  /// Declares an output; the value is given once with set() or sum(), or any number of times with the others.
  std::uint32_t output(std::string_view name, Row row);
  Row row_of(std::uint32_t output) const;
  void set(std::uint32_t output, Nodes value);
  /// Row 0 is the sum of `value` over all rows.
  void sum(std::uint32_t output, Nodes value);
  /// Row e is added to. What one row of the kernel adds to one place is summed in the order of the calls
  /// first.
  void add(std::uint32_t output, Nodes value, bool subtract);
  void scatter(std::uint32_t output, Int index, Nodes value, bool subtract);

  /// A sum over the domain that starts from `init`; returns its number.
  std::uint32_t total(Nodes init);
  void begin_loop();
  void accumulate(std::uint32_t total, Nodes term, Mask mask, bool subtract);
  void end_loop();
  /// After the loop.
  std::vector<std::uint32_t> result(std::uint32_t total);

  TracedKernel finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nova
