// SPDX-License-Identifier: Apache-2.0
// A force on particles from one formula: rows of floats for the forward step, a program for the tape. Header
// only; it works where plugin nova_diff is not there, without gradients.
//
//   static FormulaForce<Wind> wind("wind");         // Wind: as for novaphy::RowForce
//   context.publish<novaphy::IForce>("wind", &wind);
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/force.hpp"
#include "novaphy/nova/program_builder.hpp"
#include "novaphy/nova/program_bytes.hpp"

namespace nova {

/// One row of a force over traced scalars; the twin of novaphy::ForceRow.
class TracedForceRow {
 public:
  using Scalar = Expr;
  TracedForceRow(KernelScope& scope, std::span<const std::string> names) : scope_(scope), names_(names) {}

  Expr f32(int input) const { return scope_.f32(name(input)); }
  Vec2E vec2(int input) const { return scope_.vec2(name(input)); }
  Vec3E vec3(int input) const { return scope_.vec3(name(input)); }
  Vec4E vec4(int input) const { return scope_.vec4(name(input)); }
  QuatE quat(int input) const { return scope_.quat(name(input)); }
  Mat22E mat22(int input) const { return scope_.mat22(name(input)); }
  Mat33E mat33(int input) const { return scope_.mat33(name(input)); }
  Int i32(int input) const { return scope_.i32(name(input)); }
  template <int N>
  std::array<Vec3E, N> vec3s(int input) const {
    return scope_.vec3s<N>(name(input));
  }
  template <int N>
  std::array<Expr, N> f32s(int input) const {
    return scope_.f32s<N>(name(input));
  }

 private:
  const std::string& name(int input) const {
    NOVAPHY_REQUIRE(input >= 0 && static_cast<std::size_t>(input) < names_.size(), novaphy::ErrorKind::index,
                    "force: input ", input, " is read, it has ", names_.size());
    return names_[static_cast<std::size_t>(input)];
  }
  KernelScope& scope_;
  std::span<const std::string> names_;
};

namespace detail {

/// Throws Error(value) for a width that no row type has.
inline Row row_type_of(const novaphy::ArrayInfo& info) {
  constexpr Row kFloats[] = {Row::f32,     Row::vec2,      Row::vec3, Row::vec4,
                             Row::spatial, Row::transform, Row::mat33};
  constexpr Row kIntegers[] = {Row::i32, Row::ivec2, Row::ivec3, Row::ivec4};
  const bool real = info.dtype == novaphy::DType::f32;
  if (info.dtype == novaphy::DType::u32 && info.width == 1) return Row::flags;
  for (const Row row : real ? std::span<const Row>(kFloats) : std::span<const Row>(kIntegers))
    if (width_of(row) == info.width) return row;
  novaphy::fail(novaphy::ErrorKind::value, "force: its input '", info.name, "' has rows of ", info.width,
                " numbers; a program reads rows of 1, 2, 3, 4, 6, 7 or 9 floats, or of 1 to 4 integers");
}

/// What the program of a force takes and gives.
inline KernelDesc describe_kernel(const char* name, const novaphy::ForceDescription& force) {
  const std::string corners(novaphy::corner_array_of(force.rows));
  const int corner_count = novaphy::corners_of(force.rows);
  KernelDesc desc{.name = name, .in = {}, .out = {out("f", Row::vec3)}};
  for (const novaphy::ForceInput& input : novaphy::inputs_of(force)) {
    In one = in(input.info.name, row_type_of(input.info));
    if (input.reach == novaphy::ForceReach::uniform) one.uniform();
    if (input.reach == novaphy::ForceReach::corner) one.gather(corners, corner_count);
    desc.in.push_back(one);
  }
  if (corner_count == 1) {
    desc.out[0].add();
  } else {
    constexpr Row kIndex[] = {Row::i32, Row::ivec2, Row::ivec3, Row::ivec4};
    desc.index.push_back(index(corners, kIndex[corner_count - 1]));
    desc.out[0].scatter_add(corners, corner_count);
  }
  return desc;
}

}  // namespace detail

/// A force whose formula is recorded when it is made.
template <class Formula>
class FormulaForce final : public novaphy::RowForce<Formula> {
 public:
  /// `name` stands in messages and recordings: the published one.
  explicit FormulaForce(const char* name) {
    const novaphy::ForceDescription force = Formula::describe();
    const KernelDesc desc = detail::describe_kernel(name, force);
    program_ = serialize(record_rows(desc, [&](KernelScope& scope) {
      scope.write("f", Formula::force(TracedForceRow(scope, force.inputs)));
    }));
  }
  std::span<const std::byte> program() const noexcept override { return program_; }

 private:
  std::vector<std::byte> program_;
};

}  // namespace nova
