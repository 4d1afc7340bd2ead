// SPDX-License-Identifier: Apache-2.0
// Nova for modules that do not link it: a kernel is handed over as bytes, and its launches are recorded on
// the caller's tape like Nova's own.
//
// The bytes come from novaphy/nova/program_builder.hpp and program_bytes.hpp, which are headers alone:
// clang-format off
//   const auto bytes = nova::serialize(nova::record_rows(description, body));
//   auto& nova = novaphy::find<novaphy::INova>("nova");  // or find_optional: null without plugin nova_diff
//   const novaphy::ProgramId drag = nova.compile(bytes);
//   const novaphy::LaunchOperand inputs[] = {velocity, 0.5f}, outputs[] = {force};
//   nova.launch(drag, {.inputs = inputs, .outputs = outputs, .rows = velocity.rows()});
// clang-format on
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "novaphy/array.hpp"
#include "novaphy/export.hpp"

namespace novaphy {

/// A compiled program; valid as long as module `nova` is loaded.
enum class ProgramId : std::uint64_t {};

/// One input or output of a launch: an array, or the number of an input with reach `value`. Never owns.
struct LaunchOperand {
  LaunchOperand(const DeviceArray& given) noexcept : array(&given) {}
  LaunchOperand(float value) noexcept : bits(std::bit_cast<std::uint32_t>(value)), is_float(true) {}
  LaunchOperand(std::int32_t value) noexcept : bits(std::bit_cast<std::uint32_t>(value)) {}

  const DeviceArray* array = nullptr;
  std::uint32_t bits = 0;  ///< of a float or an int32, where array is null
  bool is_float = false;
};

/// Operands in the order of the program's arguments (its indices last) and outputs.
struct LaunchArgs {
  std::span<const LaunchOperand> inputs, outputs;
  std::int64_t rows = 0, domain_rows = 0;
};

/// Any thread.
class NOVAPHY_API INova {
 public:
  static constexpr const char* kId = "novaphy.x.INova/1";
  virtual ~INova();
  /// Verifies a program and makes it ready to run. The same bytes give the same id. Throws Error(value)
  /// naming program and operation, Error(unsupported_feature) for a program of a newer version.
  virtual ProgramId compile(std::span<const std::byte> program) = 0;
  /// Runs a program and records it on the tape that is open on this thread. Throws Error(shape_mismatch),
  /// Error(type), Error(device_mismatch) or Error(index) with program and argument before anything is
  /// written, and Error(value) for an id that compile() never gave.
  virtual void launch(ProgramId program, const LaunchArgs& args) = 0;
  /// A listing for people, one operation a line.
  virtual std::string text(ProgramId program) const = 0;
  /// The number of the tape that records on this thread; 0 = none, so nothing of a launch is kept.
  virtual std::uint64_t active_tape() const noexcept = 0;
};

}  // namespace novaphy
