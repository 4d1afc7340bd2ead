// SPDX-License-Identifier: Apache-2.0
// Kernels: a C++ function over traced rows, recorded once, run over many rows, differentiated on demand.
//
//   nova::Kernel drag = nova::make_indexed_expr_kernel_typed_access_n(
//       {.name = "drag",
//        .in = {nova::in("v", Row::vec3), nova::in("c", Row::f32).value()},
//        .out = {nova::out("f", Row::vec3)}},
//       [](nova::KernelScope& k) {
//         const auto v = k.vec3("v");
//         k.write("f", v * (-k.f32("c") * length(v)));
//       });
//   nova::launch(drag, {velocity, 0.5f}, {force}, velocity.rows());
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "novaphy/nova/expr.hpp"
#include "novaphy/nova/program.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// An input of a kernel. Make with in() and say how rows are reached; default: row e.
struct In {
  Name name;
  Row row_type = Row::f32;
  Reach reach = Reach::row;
  Name index{};
  int columns = 1, first_column = 0;
  bool differentiable = true, is_static = false;

  In& uniform() {
    reach = Reach::uniform;
    return *this;
  }
  /// One number, given to launch() as a float (or an int for Row::i32).
  In& value() {
    reach = Reach::value;
    return *this;
  }
  /// Row s of the reduction's domain.
  In& domain() {
    reach = Reach::domain;
    return *this;
  }
  /// Row s * rows + e.
  In& pair() {
    reach = Reach::pair;
    return *this;
  }
  /// Row index[e][first + k] for k = 0 .. columns-1; a negative index reads zeros. A `pair` index makes it
  /// one row per (e, s).
  In& gather(std::string_view index_name, int column_count = 1, int first = 0) {
    reach = Reach::gather, index = index_name, columns = column_count, first_column = first;
    return *this;
  }
  /// Never differentiated.
  In& constant() {
    differentiable = false;
    return *this;
  }
  /// Changes only when the user changes it (material, radius).
  In& rate_static() {
    is_static = true;
    return *this;
  }
};
inline In in(std::string_view name, Row row) {
  In out;
  out.name = name, out.row_type = row;
  return out;
}

/// An output of a kernel. Default: row e is set.
struct Out {
  Name name;
  Row row_type = Row::f32;
  Write write = Write::set;
  Name index{};
  int columns = 1, first_column = 0;

  /// Row e is added to.
  Out& add() {
    write = Write::add;
    return *this;
  }
  Out& scatter_add(std::string_view index_name, int column_count = 1, int first = 0) {
    write = Write::scatter_add, index = index_name, columns = column_count, first_column = first;
    return *this;
  }
  Out& scatter_sub(std::string_view index_name, int column_count = 1, int first = 0) {
    scatter_add(index_name, column_count, first).write = Write::scatter_sub;
    return *this;
  }
  /// One row: the sum over all rows, in an order that does not depend on threads.
  Out& sum() {
    write = Write::sum;
    return *this;
  }
};
inline Out out(std::string_view name, Row row) {
  Out o;
  o.name = name, o.row_type = row;
  return o;
}

/// An integer argument that gathers and scatters go through. It can be read as a value too.
struct IndexArg {
  Name name;
  Row row_type = Row::i32;
  Reach reach = Reach::row;
  IndexArg& pair() {
    reach = Reach::pair;
    return *this;
  }
};
inline IndexArg index(std::string_view name, Row row = Row::i32) {
  return {name, row};
}

/// A launch takes its inputs in the order `in`, then `index`, and its outputs in the order `out`.
struct KernelDesc {
  const char* name = "";
  std::vector<In> in;
  std::vector<Out> out;
  std::vector<IndexArg> index{};
};

/// Names the domain of a reduction, for messages ("shape").
struct DomainArg {
  const char* name = "domain";
};
inline DomainArg domain(const char* name) {
  return {name};
}

/// What a kernel body sees: named inputs as traced values, and write().
class NOVAPHY_API KernelScope {
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
  friend class Recording;
  explicit KernelScope(class Recording& recording) : recording_(recording) {}
  void read_nodes(std::string_view name, int column, std::span<std::uint32_t> nodes);
  void check_columns(std::string_view name, int columns);
  void write_nodes(std::string_view name, std::span<const std::uint32_t> nodes);
  class Recording& recording_;
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
  friend class Recording;
  explicit Acc(class Recording& recording) : recording_(recording) {}
  void record(const T& value, Mask mask, bool subtract);
  class Recording& recording_;
};

/// A compiled kernel. A handle; copies share the program and its adjoints. Launching is thread-safe.
class NOVAPHY_API Kernel {
 public:
  Kernel() = default;
  explicit operator bool() const noexcept { return compiled_ != nullptr; }
  const char* name() const noexcept;
  const Program& program() const;
  /// The program that maps cotangents of the outputs in `seeded` to those of the inputs in `wanted` (bit i =
  /// argument i).
  const Program& adjoint(std::uint64_t wanted, std::uint64_t seeded) const;
  /// A listing for people.
  std::string text() const;

  struct Compiled;
  const std::shared_ptr<const Compiled>& compiled() const noexcept { return compiled_; }
  explicit Kernel(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

 private:
  std::shared_ptr<const Compiled> compiled_;
};

/// Verifies and simplifies a program (exactly: no value changes by a bit) and makes it ready to run.
/// Throws Error(value) naming the program and the operation.
NOVAPHY_API Kernel compile(const Program& program);

/// The recording of one kernel's body. Use the two make_ functions below.
class NOVAPHY_API Recording {
 public:
  explicit Recording(const KernelDesc& desc);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  KernelScope scope() { return KernelScope(*this); }
  template <class T>
  Acc<T> accumulator() {
    return Acc<T>(*this);
  }
  void begin_loop(std::span<const std::uint32_t> init);
  void accumulate(std::span<const std::uint32_t> term, std::uint32_t mask, bool subtract);
  /// Ends the loop; returns the nodes of the results.
  std::vector<std::uint32_t> end_loop();
  Kernel finish();
  /// The program so far, for front ends that find out its arguments and outputs while they record.
  Program& draft() noexcept;

 private:
  friend class KernelScope;
  struct State;
  std::unique_ptr<State> state_;
};

template <class T>
void Acc<T>::record(const T& value, Mask mask, bool subtract) {
  std::vector<std::uint32_t> nodes;
  RowTraits<T>::visit(value, [&](auto& number) { nodes.push_back(number.node); });
  recording_.accumulate(nodes, mask.node, subtract);
}

/// Runs `body(KernelScope&)` once and returns the kernel.
template <class Body>
Kernel make_indexed_expr_kernel_typed_access_n(const KernelDesc& desc, Body&& body) {
  Recording recording(desc);
  KernelScope scope = recording.scope();
  body(scope);
  return recording.finish();
}

/// result = init(scope); for s = 0 .. domain_count-1 in this order: term(scope, Acc&) adds to it; then
/// finish(scope, result) writes the outputs.
template <class Init, class Term, class Finish>
Kernel make_indexed_fixed_reduce_expr_kernel_typed_access_n(const KernelDesc& desc, DomainArg, Init&& init,
                                                            Term&& term, Finish&& finish) {
  Recording recording(desc);
  KernelScope scope = recording.scope();
  auto result = init(scope);
  using T = decltype(result);
  std::vector<std::uint32_t> nodes;
  RowTraits<T>::visit(result, [&](auto& number) { nodes.push_back(number.node); });
  recording.begin_loop(nodes);
  Acc<T> accumulator = recording.accumulator<T>();
  term(scope, accumulator);
  nodes = recording.end_loop();
  std::size_t next = 0;
  RowTraits<T>::visit(result, [&](auto& number) { number.node = nodes[next++]; });
  finish(scope, result);
  return recording.finish();
}

/// The same with one output, which receives the sum.
template <class Init, class Term>
Kernel make_indexed_fixed_reduce_expr_kernel_typed_access_n(const KernelDesc& desc, DomainArg domain,
                                                            Init&& init, Term&& term) {
  return make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      desc, domain, std::forward<Init>(init), std::forward<Term>(term),
      [&](KernelScope& k, const auto& result) { k.write(desc.out.at(0).name.view(), result); });
}

/// One input or output of a launch: an array (tensor or engine array), or a number for a `value` input. Never
/// owns.
class Operand {
 public:
  Operand(const Tensor& tensor) : Operand(tensor.array()) {}
  Operand(const novaphy::DeviceArray& array) noexcept : array_(&array) {}
  Operand(float value) noexcept : bits_(std::bit_cast<std::uint32_t>(value)), is_float_(true) {}
  Operand(std::int32_t value) noexcept : bits_(std::bit_cast<std::uint32_t>(value)) {}

  const novaphy::DeviceArray* array() const noexcept { return array_; }
  std::uint32_t bits() const noexcept { return bits_; }
  const std::uint32_t* bits_address() const noexcept { return &bits_; }
  bool is_float() const noexcept { return is_float_; }

 private:
  const novaphy::DeviceArray* array_ = nullptr;
  std::uint32_t bits_ = 0;
  bool is_float_ = false;
};

/// Runs a kernel over `rows` rows (and `domain_count` domain rows) and records it on this thread's open tape.
/// Throws Error(shape_mismatch), Error(type), Error(device_mismatch) or Error(index), naming kernel,
/// argument, what was given and what is wanted, before anything is written.
/// An output may be the very array of a row input: the input is then the value before the launch, with its
/// own cotangent. That is how a step can leave the total force in the array of the external force.
NOVAPHY_API void launch(const Kernel& kernel, std::span<const Operand> inputs,
                        std::span<const Operand> outputs, std::int64_t rows, std::int64_t domain_count = 0);
inline void launch(const Kernel& kernel, std::initializer_list<Operand> inputs,
                   std::initializer_list<Operand> outputs, std::int64_t rows, std::int64_t domain_count = 0) {
  launch(kernel, std::span<const Operand>(inputs.begin(), inputs.size()),
         std::span<const Operand>(outputs.begin(), outputs.size()), rows, domain_count);
}

/// "aot" while kernels that were compiled ahead of time are in use, else "interpreter".
NOVAPHY_API const char* backend_name() noexcept;
/// Rows per task when a launch is shared among threads; 0 = chosen by the cost of the kernel. Results never
/// depend on it.
NOVAPHY_API void set_rows_per_task(std::int64_t rows) noexcept;

}  // namespace nova
