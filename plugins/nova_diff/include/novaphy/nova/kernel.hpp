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
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "novaphy/nova/program_builder.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

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
/// The program that serialize() (program_bytes.hpp) wrote. Reads nothing that is not there and checks nothing else:
/// compile() verifies. Throws Error(value) for bytes that are no program, Error(unsupported_feature) for a program
/// of a newer version: "program 'acme_force' needs Nova IR 1.3, this is 1.0".
NOVAPHY_API Program deserialize(std::span<const std::byte> bytes);

/// Runs `body(KernelScope&)` once and returns the kernel.
template <class Body>
Kernel make_indexed_expr_kernel_typed_access_n(const KernelDesc& desc, Body&& body) {
  return compile(record_rows(desc, std::forward<Body>(body)));
}

/// result = init(scope); for s = 0 .. domain_count-1 in this order: term(scope, Acc&) adds to it; then
/// finish(scope, result) writes the outputs.
template <class Init, class Term, class Finish>
Kernel make_indexed_fixed_reduce_expr_kernel_typed_access_n(const KernelDesc& desc, DomainArg domain,
                                                            Init&& init, Term&& term, Finish&& finish) {
  return compile(record_reduction(desc, domain, std::forward<Init>(init), std::forward<Term>(term),
                                  std::forward<Finish>(finish)));
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
