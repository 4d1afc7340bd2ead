// SPDX-License-Identifier: Apache-2.0
// Recording of a program: a C++ function over traced rows, run once. Header only, so that a plugin can
// describe kernels without Nova, and hand them over as bytes (program_bytes.hpp, novaphy/nova.hpp).
//
//   const nova::Program drag = nova::record_rows(
//       {.name = "drag",
//        .in = {nova::in("v", nova::Row::vec3), nova::in("c", nova::Row::f32).uniform()},
//        .out = {nova::out("f", nova::Row::vec3)}},
//       [](nova::KernelScope& k) { k.write("f", k.vec3("v") * -k.f32("c")); });
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "novaphy/nova/expr.hpp"
#include "novaphy/nova/kernel_description.hpp"
#include "novaphy/nova/program.hpp"

namespace nova {

/// What a kernel body sees: named inputs as traced values, and write().
class KernelScope {
 public:
  template <class T>
  T read(std::string_view name, int column = 0) {
    T out{};
    std::array<std::uint32_t, RowTraits<T>::width> nodes;
    read_nodes(name, column, nodes);
    std::size_t next = 0;
    RowTraits<T>::visit(out, [&](auto& number) { number.node = nodes[next++]; });
    return out;
  }
  Expr f32(std::string_view name) { return read<Expr>(name); }
  Vec2E vec2(std::string_view name) { return read<Vec2E>(name); }
  Vec3E vec3(std::string_view name) { return read<Vec3E>(name); }
  Vec4E vec4(std::string_view name) { return read<Vec4E>(name); }
  std::array<Expr, 5> vec5(std::string_view name) { return read<std::array<Expr, 5>>(name); }
  QuatE quat(std::string_view name) { return read<QuatE>(name); }
  TransformE transform(std::string_view name) { return read<TransformE>(name); }
  SpatialE spatial(std::string_view name) { return read<SpatialE>(name); }
  Mat22E mat22(std::string_view name) { return read<Mat22E>(name); }
  Mat33E mat33(std::string_view name) { return read<Mat33E>(name); }
  Int i32(std::string_view name) { return read<Int>(name); }
  Int flags(std::string_view name) { return read<Int>(name); }
  Int u8(std::string_view name) { return read<Int>(name); }
  std::array<Int, 2> ivec2(std::string_view name) { return read<std::array<Int, 2>>(name); }
  std::array<Int, 3> ivec3(std::string_view name) { return read<std::array<Int, 3>>(name); }
  std::array<Int, 4> ivec4(std::string_view name) { return read<std::array<Int, 4>>(name); }

  /// All columns of a gathered input: f32s<2>("ke"), vec3s<4>("x").
  template <class T, int N>
  std::array<T, N> read_columns(std::string_view name) {
    check_columns(name, N);
    std::array<T, N> out{};
    for (int k = 0; k < N; ++k) out[static_cast<std::size_t>(k)] = read<T>(name, k);
    return out;
  }
  template <int N>
  std::array<Expr, N> f32s(std::string_view name) {
    return read_columns<Expr, N>(name);
  }
  template <int N>
  std::array<Vec3E, N> vec3s(std::string_view name) {
    return read_columns<Vec3E, N>(name);
  }
  template <int N>
  std::array<Vec4E, N> vec4s(std::string_view name) {
    return read_columns<Vec4E, N>(name);
  }
  template <int N>
  std::array<TransformE, N> transforms(std::string_view name) {
    return read_columns<TransformE, N>(name);
  }

  /// Gives an output its value; each output exactly once.
  template <class T>
  void write(std::string_view name, const T& value) {
    std::vector<std::uint32_t> nodes;
    RowTraits<T>::visit(value, [&](auto& number) { nodes.push_back(number.node); });
    write_nodes(name, nodes);
  }
  template <class T, std::size_t N>
  void write(std::string_view name, const std::array<T, N>& values) {
    std::vector<std::uint32_t> nodes;
    for (const T& value : values)
      RowTraits<T>::visit(value, [&](auto& number) { nodes.push_back(number.node); });
    write_nodes(name, nodes);
  }

 private:
  friend class ProgramBuilder;
  explicit KernelScope(class ProgramBuilder& builder) : builder_(builder) {}
  void read_nodes(std::string_view name, int column, std::span<std::uint32_t> nodes);
  void check_columns(std::string_view name, int columns);
  void write_nodes(std::string_view name, std::span<const std::uint32_t> nodes);
  class ProgramBuilder& builder_;
};

/// The running sum of a fixed reduction, as the term sees it: it can be added to, not read.
template <class T>
class Acc {
 public:
  void add(const T& value) { record(value, Mask{}, false); }
  void sub(const T& value) { record(value, Mask{}, true); }
  /// Rows whose mask is false keep their sum to the bit, and nothing flows back from the term.
  void add_if(Mask mask, const T& value) { record(value, mask, false); }
  void sub_if(Mask mask, const T& value) { record(value, mask, true); }

 private:
  friend class ProgramBuilder;
  explicit Acc(class ProgramBuilder& builder) : builder_(builder) {}
  void record(const T& value, Mask mask, bool subtract);
  class ProgramBuilder& builder_;
};

/// Records one program on this thread while it lives; innermost first. Throws Error(trace).
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const KernelDesc& desc);
  ~ProgramBuilder() { novaphy::active_program() = frame_.outer; }
  ProgramBuilder(const ProgramBuilder&) = delete;
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;

  KernelScope scope() { return KernelScope(*this); }
  template <class T>
  Acc<T> accumulator() {
    return Acc<T>(*this);
  }
  void begin_loop(std::span<const std::uint32_t> init);
  void accumulate(std::span<const std::uint32_t> term, std::uint32_t mask, bool subtract);
  /// Ends the loop; returns the nodes of the results.
  std::vector<std::uint32_t> end_loop();
  /// The program, when every output has been written.
  Program finish() const;
  /// The program so far, for front ends that find out its arguments and outputs while they record.
  Program& draft() noexcept { return program_; }

 private:
  friend class KernelScope;
  std::uint32_t index_of(const KernelDesc& desc, const Name& name, std::string_view user) const;
  void add_input(const KernelDesc& desc, const In& in);
  void add_output(const KernelDesc& desc, const Out& out);

  Program program_;
  ActiveRecording frame_;
  std::vector<bool> written_;
};

template <class T>
void Acc<T>::record(const T& value, Mask mask, bool subtract) {
  std::vector<std::uint32_t> nodes;
  RowTraits<T>::visit(value, [&](auto& number) { nodes.push_back(number.node); });
  builder_.accumulate(nodes, mask.node, subtract);
}

/// Runs `body(KernelScope&)` once and returns the program.
template <class Body>
Program record_rows(const KernelDesc& desc, Body&& body) {
  ProgramBuilder builder(desc);
  KernelScope scope = builder.scope();
  body(scope);
  return builder.finish();
}

/// result = init(scope); for s = 0 .. domain_count-1 in this order: term(scope, Acc&) adds to it; then
/// finish(scope, result) writes the outputs.
template <class Init, class Term, class Finish>
Program record_reduction(const KernelDesc& desc, DomainArg, Init&& init, Term&& term, Finish&& finish) {
  ProgramBuilder builder(desc);
  KernelScope scope = builder.scope();
  auto result = init(scope);
  using T = decltype(result);
  std::vector<std::uint32_t> nodes;
  RowTraits<T>::visit(result, [&](auto& number) { nodes.push_back(number.node); });
  builder.begin_loop(nodes);
  Acc<T> accumulator = builder.accumulator<T>();
  term(scope, accumulator);
  nodes = builder.end_loop();
  std::size_t next = 0;
  RowTraits<T>::visit(result, [&](auto& number) { number.node = nodes[next++]; });
  finish(scope, result);
  return builder.finish();
}

}  // namespace nova

#include "novaphy/nova/program_builder_definitions.hpp"
