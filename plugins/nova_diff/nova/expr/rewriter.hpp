// SPDX-License-Identifier: Apache-2.0
// Builds a list of operations, merging equal ones and rewriting where no bit of any result can change.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "novaphy/nova/program.hpp"

namespace nova {

class Rewriter {
 public:
  std::uint32_t constant(float value);
  std::uint32_t constant_bits(ValueType type, std::uint32_t bits);
  std::uint32_t mask(bool value) { return constant_bits(ValueType::mask, value ? ~0u : 0u); }
  /// `stage`: 0 for what a row knows, odd for what a loop iteration knows.
  std::uint32_t input(ValueType type, std::uint32_t argument, std::uint32_t slot, std::uint8_t stage);
  std::uint32_t reduced(ValueType type, std::uint32_t reduction, std::uint8_t stage);
  /// An operation; its stage is the latest of its operands'.
  std::uint32_t put(Op op, ValueType type, std::uint32_t a, std::uint32_t b = kNone, std::uint32_t c = kNone);
  std::uint32_t f(Op op, std::uint32_t a, std::uint32_t b = kNone, std::uint32_t c = kNone) {
    return put(op, ValueType::f32, a, b, c);
  }

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  struct Hash {
    std::size_t operator()(const Node& n) const noexcept;
  };
  bool is_constant(std::uint32_t node, float value) const;
  bool is(std::uint32_t node, Op op) const { return nodes_[node].op == op; }
  std::uint32_t rewrite(Op op, ValueType type, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c);
  std::uint32_t fold(Op op, ValueType type, std::uint32_t a, std::uint32_t b);
  std::uint32_t intern(const Node& node);

  std::vector<Node> nodes_;
  std::unordered_map<Node, std::uint32_t, Hash> known_;
};

}  // namespace nova
