// SPDX-License-Identifier: Apache-2.0
// Forces on particles from other plugins: SolverSemiImplicit adds them to its own, DiffSemiImplicitSolver
// differentiates them.
//
// A force is written once as a formula over its scalar. novaphy/nova/formula_force.hpp makes both forms of
// it: rows of F32 (novaphy/formula_scalar.hpp), which the forward solver calls, and the program that a tape
// records. An author who wants the forward form alone derives from RowForce, or implements IForce.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/error.hpp"
#include "novaphy/formula_scalar.hpp"
#include "novaphy/model.hpp"

namespace novaphy {

/// What a force acts on, what it reads and what it owns.
struct ForceDescription {
  /// A row of the force: particle, or spring, tri, edge or tet, on whose 2, 3, 4 or 4 particles (corners) it
  /// acts.
  Frequency rows = Frequency::particle;
  /// Arrays that the force reads, by name: of the state ("particle_q", "particle_qd"), of the model
  /// ("particle_mass"), its own, or "time", which the solver keeps in the state, s. They are read where the
  /// row is: the array's own row where it has one for each row of the force, the one row of an array with
  /// frequency `once`, the rows of the corners where the force acts on elements and the array belongs to
  /// particles.
  std::vector<std::string> inputs;
  /// Arrays of the force itself, with unit, default and owner (model: parameters; state: what is carried from
  /// step to step). A solver adds them to a model that does not have them; users set them as any other array.
  /// Begin their names with that of the force.
  std::vector<CustomArray> arrays;
};

/// How a row of the force reaches an input.
enum class ForceReach : std::uint8_t { row = 0, uniform, corner };

/// One input of a force, found.
struct ForceInput {
  ArrayInfo info;
  ArrayOwner owner = ArrayOwner::model;
  ForceReach reach = ForceReach::row;
};

/// The inputs of a description in their order. Throws Error(value) for a name that no array has, with the
/// nearest one, and for an array whose rows the force cannot reach.
NOVAPHY_API std::vector<ForceInput> inputs_of(const ForceDescription& description);
/// Particles of a row: 1, or those of an element. Throws Error(value) for a frequency that has none.
NOVAPHY_API int corners_of(Frequency rows);
/// The model's array that names them: "tet_indices"; empty for particles.
NOVAPHY_API std::string_view corner_array_of(Frequency rows);

/// One input as a force sees it in a call: packed rows of `width` 4-byte numbers.
struct ForceInputRows {
  const void* data = nullptr;
  int width = 1;
  ForceReach reach = ForceReach::row;
};

/// What a force is asked for: the rows [begin, end).
struct ForceRows {
  std::int64_t begin = 0, end = 0;
  std::span<const ForceInputRows> inputs;  ///< as in the description
  /// Of all rows; null where rows are particles. Below 0: there is none.
  const std::int32_t* corners = nullptr;
  int corner_count = 1;
  /// 3 numbers [N] for each corner of each row, row `begin` first; the solver adds them.
  float* out = nullptr;
};

/// A force. Any thread: rows are asked for in any order and at the same time, so the object does not change.
class NOVAPHY_API IForce {
 public:
  static constexpr const char* kId = "novaphy.x.IForce/1";
  virtual ~IForce();
  virtual ForceDescription describe() const = 0;
  /// Writes all of rows.out. Each row from its inputs alone.
  virtual void evaluate(const ForceRows& rows) const = 0;
  /// The same as a program (novaphy/nova.hpp): inputs as described, then the corners' indices where rows are
  /// elements; one output, which is added to. Empty = there is no gradient. Valid as long as this object.
  virtual std::span<const std::byte> program() const noexcept = 0;
};

/// One row of a force in its forward form. Inputs by their place in the description; throws Error(index) for
/// one that there is not, Error(shape_mismatch) for one that is read as another type.
class ForceRow {
 public:
  using Scalar = F32;
  ForceRow(const ForceRows& rows, std::int64_t row) noexcept : rows_(rows), row_(row) {}

  F32 f32(int input) const { return read<F32>(input); }
  Vec2T<F32> vec2(int input) const { return read<Vec2T<F32>>(input); }
  Vec3T<F32> vec3(int input) const { return read<Vec3T<F32>>(input); }
  Vec4T<F32> vec4(int input) const { return read<Vec4T<F32>>(input); }
  QuatT<F32> quat(int input) const { return read<QuatT<F32>>(input); }
  Mat22T<F32> mat22(int input) const { return read<Mat22T<F32>>(input); }
  Mat33T<F32> mat33(int input) const { return read<Mat33T<F32>>(input); }
  I32 i32(int input) const { return read<I32>(input); }
  /// Of all corners.
  template <int N>
  std::array<Vec3T<F32>, N> vec3s(int input) const {
    return corners<Vec3T<F32>, N>(input);
  }
  template <int N>
  std::array<F32, N> f32s(int input) const {
    return corners<F32, N>(input);
  }

 private:
  template <class T>
  const ForceInputRows& find(int input) const {
    NOVAPHY_REQUIRE(input >= 0 && static_cast<std::size_t>(input) < rows_.inputs.size(), ErrorKind::index,
                    "force: input ", input, " is read, it has ", rows_.inputs.size());
    const ForceInputRows& from = rows_.inputs[static_cast<std::size_t>(input)];
    NOVAPHY_REQUIRE(sizeof(T) == 4 * static_cast<std::size_t>(from.width), ErrorKind::shape_mismatch,
                    "force: input ", input, " has rows of ", from.width, " numbers, ", sizeof(T) / 4,
                    " are read");
    return from;
  }
  template <class T>
  T read(int input, int corner = 0) const {
    const ForceInputRows& from = find<T>(input);
    std::int64_t row = from.reach == ForceReach::uniform ? 0 : row_;
    if (from.reach == ForceReach::corner) row = rows_.corners[row_ * rows_.corner_count + corner];
    T out{};
    if (row < 0) return out;
    std::memcpy(&out, static_cast<const char*>(from.data) + row * from.width * 4, sizeof(T));
    return out;
  }
  template <class T, int N>
  std::array<T, N> corners(int input) const {
    NOVAPHY_REQUIRE(N == rows_.corner_count, ErrorKind::shape_mismatch, "force: ", N, " corners of input ",
                    input, " are read, its rows have ", rows_.corner_count);
    std::array<T, N> out;
    for (int k = 0; k < N; ++k) out[static_cast<std::size_t>(k)] = read<T>(input, k);
    return out;
  }

  const ForceRows& rows_;
  std::int64_t row_;
};

/// A force from a formula:
///   struct Wind {
///     static ForceDescription describe();
///     template <class Row>
///     static auto force(const Row& row) { return formula::wind(row.vec3(0), row.f32(1)); }
///   };
/// force() gives a Vec3T, or a std::array of as many as there are corners.
template <class Formula>
class RowForce : public IForce {
 public:
  ForceDescription describe() const override { return Formula::describe(); }
  void evaluate(const ForceRows& rows) const override {
    float* out = rows.out;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto force = Formula::force(ForceRow(rows, row));
      static_assert(sizeof(force) % sizeof(Vec3f) == 0, "a force gives a Vec3 for each corner");
      NOVAPHY_REQUIRE(sizeof(force) == sizeof(Vec3f) * static_cast<std::size_t>(rows.corner_count),
                      ErrorKind::shape_mismatch, "force: it gives ", sizeof(force) / sizeof(Vec3f),
                      " vectors, its rows have ", rows.corner_count, " corners");
      std::memcpy(out, &force, sizeof(force));
      out += sizeof(force) / sizeof(float);
    }
  }
  std::span<const std::byte> program() const noexcept override { return {}; }
};

}  // namespace novaphy
