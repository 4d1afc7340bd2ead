// SPDX-License-Identifier: Apache-2.0
// What stands behind a Kernel handle: the program, its code, and the adjoints that were needed so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "nova/kernel/code.hpp"
#include "nova/tape/signature.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {

struct Adjoint {
  std::uint64_t wanted = 0, seeded = 0;
  std::uint64_t reached = 0;  ///< those of `wanted` that a seeded output depends on; others are not written
  std::uint64_t reads = 0;    ///< inputs of the kernel whose value it reads
  Program program;
  Code code;
  std::unique_ptr<Adjoint> next;
};

/// The tangent program of a kernel or of one of its adjoints.
struct Tangent {
  const Adjoint* of = nullptr;  ///< null = the kernel itself
  std::uint64_t moving = 0;     ///< arguments with a tangent
  std::uint64_t reads = 0;      ///< arguments of `of` whose value it reads
  Program program;
  Code code;
};

/// An array that is reached through columns of an index argument.
struct IndexUse {
  std::uint32_t index = 0, first_column = 0, columns = 1;
  std::uint32_t array = 0;  ///< argument, or output when `is_output`
  bool is_output = false;
};

struct Kernel::Compiled : LaunchSignature {
  explicit Compiled(Program simplified);

  /// The adjoint for these masks; made on first need. Any thread.
  const Adjoint& adjoint(std::uint64_t wanted, std::uint64_t seeded) const;
  /// The tangent program of the kernel (`of` null) or of its adjoint; made on first need. Any thread.
  const Tangent& tangent(const Adjoint* of, std::uint64_t moving) const;
  /// Bit i: the adjoints of the `wanted` inputs read the value of argument i, so it must still be there at
  /// backward.
  std::uint64_t values_needed(std::uint64_t wanted) const;
  /// The same for all inputs that have a derivative.
  std::uint64_t values_needed() const { return values_needed(differentiable); }

  Program program;
  Code code;
  std::vector<IndexUse> index_uses;

 private:
  const Adjoint* find(std::uint64_t wanted, std::uint64_t seeded) const;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Adjoint> owner_;
  mutable std::vector<std::unique_ptr<const Tangent>> tangents_;
  mutable std::atomic<const Adjoint*> first_{nullptr};
  mutable std::once_flag needed_known_;
  mutable std::vector<std::uint64_t> needed_by_;  ///< by input: the arguments that its adjoint reads
};

}  // namespace nova
