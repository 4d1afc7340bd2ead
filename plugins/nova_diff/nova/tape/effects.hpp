// SPDX-License-Identifier: Apache-2.0
// The one gate for what Nova does to memory: at once, or kept as commands by a capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nova/kernel/compiled.hpp"
#include "novaphy/array.hpp"
#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {

/// A kernel or an adjoint with resolved pointers. The spans and what they point to live for the call only.
struct KernelRun {
  const std::shared_ptr<const Kernel::Compiled>& kernel;
  const Adjoint* adjoint = nullptr;  ///< null = the kernel itself
  const void* const* arguments = nullptr;
  void* const* results = nullptr;
  std::int64_t rows = 0, domain = 0;
  novaphy::Storage* index = nullptr;  ///< as in execute()
  // of a launch, empty for an adjoint
  std::span<const Operand> inputs{}, outputs{};
};

/// The forward or the backward of a custom operation; spans as in KernelRun.
struct CustomRun {
  const std::shared_ptr<const CustomOperation>& operation;
  std::span<const void* const> inputs;
  // forward
  std::span<void* const> outputs{};
  std::span<const CustomInput> operands{};
  std::span<const CustomOutput> results{};
  // backward
  bool is_backward = false;
  std::span<const float* const> output_cotangents{};
  std::span<float* const> input_cotangents{};
  std::span<const std::size_t> input_sizes{};  ///< numbers in each input
};

/// How a gradient meets what is stored already.
enum class GradientStore : std::uint8_t { add, anew };

/// Every write of Nova to arrays, gradients and cotangents goes through the object that now() returns;
/// nothing else writes. Outside of a capture it acts at once.
class Effects {
 public:
  /// Those of this thread.
  static Effects& now() noexcept;

  virtual void run(const KernelRun& kernel) = 0;
  virtual void run(const CustomRun& custom) = 0;
  virtual void zero(void* to, std::size_t bytes) = 0;
  virtual void set(float* to, float value) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Adds the cotangent to the gradient of the array; where there is none, or `how` is anew, it becomes the
  /// gradient.
  virtual void store_gradient(const std::shared_ptr<novaphy::Storage>& array, const float* cotangent,
                              GradientStore how, std::uint64_t recording) = 0;
  virtual void drop_gradient(const std::shared_ptr<novaphy::Storage>& array) = 0;
  /// What follows reads the gradient of the array, which has one.
  virtual void read_gradient(const std::shared_ptr<novaphy::Storage>&) {}
  /// What follows reads the array through its address.
  virtual void read(const std::shared_ptr<novaphy::Storage>&) {}
  /// Memory that effects were given addresses into; it must outlive them.
  virtual void keep(std::shared_ptr<void>) {}
  /// A tape was opened.
  virtual void opened(const std::shared_ptr<class TapeState>&) {}
  /// Non-zero for the effects of a capture, which runs nothing: its number.
  virtual std::uint64_t capture() const noexcept { return 0; }

 protected:
  ~Effects() = default;
  /// Replaces the effects of this thread; null = those that act at once.
  static void replace(Effects* effects) noexcept;
};

/// What owns the memory, and so the gradient: the root of a region.
inline const std::shared_ptr<novaphy::Storage>& base_of(const std::shared_ptr<novaphy::Storage>& storage) {
  return storage->root() ? storage->root() : storage;
}

/// Runs at once.
void run_now(const KernelRun& kernel);
void run_now(const CustomRun& custom);
void store_gradient_now(novaphy::Storage& array, const float* cotangent, GradientStore how,
                        std::uint64_t recording);

}  // namespace nova
