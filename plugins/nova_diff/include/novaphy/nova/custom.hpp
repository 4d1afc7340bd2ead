// SPDX-License-Identifier: Apache-2.0
// Custom operations: what is no kernel, with its value and its derivatives written in C++, on the tape beside
// the kernels.
//
//   class Scale final : public nova::CustomOperation {  // y = 2 x
//     const char* name() const noexcept override { return "scale"; }
//     void forward(const Forward& f) const override;    // f.outputs[0][i] = 2 * f.inputs[0][i]
//     void backward(const Backward& b) const override;  // b.input_cotangents[0][i] += 2 *
//     b.output_cotangents[0][i]
//   };
//   nova::apply(std::make_shared<Scale>(), {nova::CustomInput(x).value_not_needed()},
//   {nova::CustomOutput(y)});
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "novaphy/array.hpp"
#include "novaphy/export.hpp"
#include "novaphy/nova/program.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {

/// An operation with derivatives of its own. The tape keeps the object until it is reset, so facts that stay
/// the same (sizes, numbers) are members. The callbacks get the addresses of packed arrays in the order of
/// apply(); they record nothing themselves. Called on the thread that applies or differentiates.
class NOVAPHY_API CustomOperation {
 public:
  struct Forward {
    std::span<const void* const> inputs;
    std::span<void* const> outputs;  ///< `set`: to be written whole; `add`: to be added to
  };
  struct Backward {
    std::span<const void* const> inputs;              ///< values as forward saw them; null where not needed
    std::span<const float* const> output_cotangents;  ///< null = zero
    std::span<float* const> input_cotangents;  ///< to be added to; null = not wanted; two may be one address
  };
  struct Tangent {
    std::span<const void* const> inputs;
    std::span<const float* const> input_tangents;  ///< null = zero
    std::span<float* const> output_tangents;       ///< as Forward::outputs; null for integers
  };
  /// The derivative of backward along `input_tangents` and `output_cotangent_tangents`.
  struct BackwardTangent {
    std::span<const void* const> inputs;
    std::span<const float* const> input_tangents;             ///< null = zero
    std::span<const float* const> output_cotangents;          ///< null = zero
    std::span<const float* const> output_cotangent_tangents;  ///< null = zero
    std::span<float* const> input_cotangent_tangents;         ///< to be added to; null = not wanted
  };

  virtual ~CustomOperation();
  /// What messages and reports call it; at most 63 characters.
  virtual const char* name() const noexcept = 0;
  virtual void forward(const Forward& call) const = 0;
  virtual void backward(const Backward& call) const = 0;
  /// Forward mode. Unless overridden: Error(unsupported_feature) that names the operation.
  virtual void tangent(const Tangent& call) const;
  /// For Hessian-vector products. Unless overridden: Error(unsupported_feature) that names the operation.
  virtual void backward_tangent(const BackwardTangent& call) const;
};

/// An array that a custom operation reads. Never owns.
class CustomInput {
 public:
  CustomInput(const Tensor& tensor) : CustomInput(tensor.array()) {}
  CustomInput(const novaphy::DeviceArray& array) noexcept
      : array_(&array), differentiable_(array.dtype() == novaphy::DType::f32) {}
  /// backward adds nothing to its cotangent. Integer arrays are constant anyway.
  CustomInput& constant() noexcept {
    differentiable_ = false;
    return *this;
  }
  /// No derivative reads its value, so it may be overwritten before backward.
  CustomInput& value_not_needed() noexcept {
    value_needed_ = false;
    return *this;
  }

  const novaphy::DeviceArray& array() const noexcept { return *array_; }
  bool differentiable() const noexcept { return differentiable_; }
  bool value_needed() const noexcept { return value_needed_; }

 private:
  const novaphy::DeviceArray* array_;
  bool differentiable_, value_needed_ = true;
};

/// An array that a custom operation writes. Never owns.
class CustomOutput {
 public:
  CustomOutput(const Tensor& tensor) noexcept : array_(&tensor.array()) {}
  CustomOutput(const novaphy::DeviceArray& array) noexcept : array_(&array) {}
  /// It is added to, so the cotangent of what was there before passes through. Default: it is set, and ends.
  CustomOutput& add() noexcept {
    adds_ = true;
    return *this;
  }

  const novaphy::DeviceArray& array() const noexcept { return *array_; }
  bool adds() const noexcept { return adds_; }

 private:
  const novaphy::DeviceArray* array_;
  bool adds_ = false;
};

/// Runs the operation's forward and records it on this thread's open tape, with all that a tape checks for
/// kernels. At most Program::kMaxArguments inputs and as many outputs. An output may be the array of an
/// input: the input is then the value before. Throws Error(value) for two outputs over one memory. An
/// error of forward passes unchanged; the outputs then count as written by somebody else, so a tape refuses
/// to read them.
NOVAPHY_API void apply(std::shared_ptr<const CustomOperation> operation, std::span<const CustomInput> inputs,
                       std::span<const CustomOutput> outputs);
inline void apply(std::shared_ptr<const CustomOperation> operation, std::initializer_list<CustomInput> inputs,
                  std::initializer_list<CustomOutput> outputs) {
  apply(std::move(operation), std::span<const CustomInput>(inputs.begin(), inputs.size()),
        std::span<const CustomOutput>(outputs.begin(), outputs.size()));
}

}  // namespace nova
