// SPDX-License-Identifier: Apache-2.0
// Appending operations to the program that a thread records. Header only: the libraries of one process share
// nothing but the place where the recorded program is found.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "novaphy/active_program.hpp"
#include "novaphy/nova/operations.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// What a thread records; recordings may nest (a body that makes another kernel).
struct ActiveRecording {
  Program* program = nullptr;
  bool loop_open = false;
  void* outer = nullptr;
};

namespace detail {

inline ActiveRecording& active_recording() {
  void* const active = novaphy::active_program();
  NOVAPHY_REQUIRE(active != nullptr, novaphy::ErrorKind::trace,
                  "nova: a traced value was used outside of a kernel body; make kernels with "
                  "nova::make_..._kernel_typed_access_n");
  return *static_cast<ActiveRecording*>(active);
}

inline std::uint32_t append(const Node& node) {
  Program& program = *active_recording().program;
  program.nodes.push_back(node);
  return static_cast<std::uint32_t>(program.nodes.size() - 1);
}

}  // namespace detail

/// Appends one operation to the program that this thread records. Throws Error(trace) when none is recorded
/// or an operand was never given a value.
inline std::uint32_t trace(Op op, ValueType type, std::uint32_t a, std::uint32_t b = kNone,
                           std::uint32_t c = kNone) {
  const ActiveRecording& now = detail::active_recording();
  const std::uint32_t operands[3] = {a, b, c};
  std::uint8_t stage = 0;
  for (int k = 0; k < operand_count(op); ++k) {
    NOVAPHY_REQUIRE(operands[k] < now.program->nodes.size(), novaphy::ErrorKind::trace, "kernel '",
                    now.program->name.view(), "': operand ", k, " of ", name_of(op),
                    " was never given a value");
    stage = std::max(stage, now.program->nodes[operands[k]].stage);
  }
  NOVAPHY_REQUIRE(stage != 1 || now.loop_open, novaphy::ErrorKind::trace, "kernel '",
                  now.program->name.view(),
                  "': a value of the reduction's term is used outside of it; only the sum leaves the loop");
  return detail::append({.op = op, .type = type, .stage = stage, .a = a, .b = b, .c = c});
}

inline std::uint32_t trace_constant(float value) {
  return detail::append({.op = Op::constant, .a = std::bit_cast<std::uint32_t>(value)});
}

inline std::uint32_t trace_constant(std::int32_t value) {
  return detail::append({.op = Op::constant, .type = ValueType::i32, .a = static_cast<std::uint32_t>(value)});
}

}  // namespace nova
