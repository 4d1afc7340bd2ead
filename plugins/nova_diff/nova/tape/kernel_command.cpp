// SPDX-License-Identifier: Apache-2.0
// Launches, adjoints and custom operations as commands of a graph.
#include <algorithm>
#include <bit>
#include <optional>

#include "nova/kernel/launch.hpp"
#include "nova/tape/commands.hpp"
#include "novaphy/nova/tape.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::Storage;

/// The same array, held by nobody.
DeviceArray borrowed(const DeviceArray& array) {
  return DeviceArray(std::shared_ptr<Storage>(std::shared_ptr<void>(), array.storage().get()), array.dtype(),
                     array.shape());
}

bool lies_in(const DeviceArray& array, const Storage* root) {
  return array.storage() && &array.storage()->base() == root;
}

DeviceArray owned(const Graph::State& graph, const DeviceArray& array) {
  return DeviceArray(graph.owner(array.storage().get()), array.dtype(), array.shape());
}

/// The arguments of a launch, without holding any array.
class Arguments {
 public:
  explicit Arguments(std::span<const Operand> operands) {
    arrays_.reserve(operands.size());  // operands point into it
    for (const Operand& operand : operands) {
      if (operand.array() != nullptr) arrays_.push_back(borrowed(*operand.array()));
      operands_.push_back(operand.array() != nullptr ? Operand(arrays_.back()) : operand);
    }
  }
  std::span<const Operand> operands() const { return operands_; }
  const std::vector<DeviceArray>& arrays() const { return arrays_; }
  bool holds(const Storage* root) const {
    return std::any_of(arrays_.begin(), arrays_.end(),
                       [&](const DeviceArray& array) { return lies_in(array, root); });
  }

 private:
  std::vector<DeviceArray> arrays_;
  std::vector<Operand> operands_;
};

/// Owning copies of the arguments, for a tape.
class OwnedArguments {
 public:
  OwnedArguments(const Graph::State& graph, std::span<const Operand> operands) {
    arrays_.reserve(operands.size());
    for (const Operand& operand : operands) {
      if (operand.array() != nullptr) arrays_.push_back(owned(graph, *operand.array()));
      operands_.push_back(operand.array() != nullptr ? Operand(arrays_.back()) : operand);
    }
  }
  std::span<const Operand> operands() const { return operands_; }

 private:
  std::vector<DeviceArray> arrays_;
  std::vector<Operand> operands_;
};

bool pauses_recording() {
  return novaphy::open_recording() == novaphy::kNoRecording;
}

class LaunchCommand final : public Command {
 public:
  explicit LaunchCommand(const KernelRun& run)
      : kernel_(run.kernel),
        inputs_(run.inputs),
        outputs_(run.outputs),
        rows_(run.rows),
        domain_(run.domain),
        not_recorded_(pauses_recording()),
        index_(run.index) {
    for (const Operand& input : inputs_.operands()) arguments_.push_back(address(input));
    for (const Operand& output : outputs_.operands()) results_.push_back(const_cast<void*>(address(output)));
  }
  LaunchCommand(const LaunchCommand&) = delete;
  LaunchCommand& operator=(const LaunchCommand&) = delete;

  void run() override {
    check_indices(*kernel_, inputs_.operands(), outputs_.operands());
    for (const DeviceArray& output : outputs_.arrays())
      if (Storage* const storage = output.storage().get()) storage->mutable_data();
    run_now(KernelRun{.kernel = kernel_,
                      .arguments = arguments_.data(),
                      .results = results_.data(),
                      .rows = rows_,
                      .domain = domain_,
                      .index = index_});
  }
  bool is_recordable() const override { return true; }
  void record(const Graph::State& graph) override {
    std::optional<NoGrad> no_grad;
    if (not_recorded_) no_grad.emplace();
    const OwnedArguments inputs(graph, inputs_.operands()), outputs(graph, outputs_.operands());
    launch(Kernel(kernel_), inputs.operands(), outputs.operands(), rows_, domain_);
  }
  Touch touch(const Storage* storage) const override {
    if (inputs_.holds(storage)) return Touch::reads;
    for (std::size_t k = 0; k < outputs_.arrays().size(); ++k) {
      if (!lies_in(outputs_.arrays()[k], storage)) continue;
      const Output& output = kernel_->program.outputs[k];
      const bool whole =
          outputs_.arrays()[k].bytes() == storage->bytes() &&
          ((output.write == Write::set && output.reach == Reach::row) || output.write == Write::sum);
      return whole ? Touch::overwrites : Touch::reads;
    }
    return Touch::none;
  }
  void add_numbers(std::vector<FrozenNumber>& numbers) const override {
    for (std::size_t i = 0; i < inputs_.operands().size(); ++i) {
      const Operand& operand = inputs_.operands()[i];
      if (operand.array() != nullptr) continue;
      const double value = operand.is_float() ? static_cast<double>(std::bit_cast<float>(operand.bits()))
                                              : std::bit_cast<std::int32_t>(operand.bits());
      numbers.push_back({std::string(kernel_->program.name.view()),
                         std::string(kernel_->program.arguments[i].name.view()), value});
    }
  }
  std::string text() const override {
    std::vector<FrozenNumber> numbers;
    add_numbers(numbers);
    std::string out = novaphy::text(kernel_->program.name.view(), ", ", rows_, rows_ == 1 ? " row" : " rows");
    for (const FrozenNumber& number : numbers) out += novaphy::text(", ", number.name, " = ", number.value);
    return out;
  }

 private:
  static const void* address(const Operand& operand) {
    if (operand.array() == nullptr) return operand.bits_address();
    return operand.array()->storage() ? operand.array()->storage()->data() : nullptr;
  }
  std::shared_ptr<const Kernel::Compiled> kernel_;
  Arguments inputs_, outputs_;
  std::int64_t rows_, domain_;
  bool not_recorded_;
  Storage* index_;  // one of the inputs
  std::vector<const void*> arguments_;
  std::vector<void*> results_;
};

/// An adjoint, or a kernel over cotangents: addresses alone.
class AddressCommand final : public Command {
 public:
  explicit AddressCommand(const KernelRun& run)
      : kernel_(run.kernel), adjoint_(run.adjoint), rows_(run.rows), domain_(run.domain), index_(run.index) {
    const Program& program = adjoint_ != nullptr ? adjoint_->program : kernel_->program;
    numbers_.reserve(program.arguments.size());  // arguments_ points into it
    for (std::size_t i = 0; i < program.arguments.size(); ++i) {
      arguments_.push_back(run.arguments[i]);
      if (program.arguments[i].reach != Reach::value) continue;
      numbers_.push_back(*static_cast<const std::uint32_t*>(run.arguments[i]));
      arguments_.back() = &numbers_.back();
    }
    results_.assign(run.results, run.results + program.outputs.size());
  }
  AddressCommand(const AddressCommand&) = delete;
  AddressCommand& operator=(const AddressCommand&) = delete;
  void run() override {
    run_now(KernelRun{.kernel = kernel_,
                      .adjoint = adjoint_,
                      .arguments = arguments_.data(),
                      .results = results_.data(),
                      .rows = rows_,
                      .domain = domain_,
                      .index = index_});
  }
  std::string text() const override {
    return novaphy::text(adjoint_ != nullptr ? "adjoint of " : "cotangents: ", kernel_->program.name.view());
  }

 private:
  std::shared_ptr<const Kernel::Compiled> kernel_;
  const Adjoint* adjoint_;  // belongs to kernel_
  std::int64_t rows_, domain_;
  Storage* index_;  // an input of the launch, which the graph holds
  std::vector<const void*> arguments_;
  std::vector<std::uint32_t> numbers_;
  std::vector<void*> results_;
};

class CustomForwardCommand final : public Command {
 public:
  explicit CustomForwardCommand(const CustomRun& run)
      : operation_(run.operation),
        not_recorded_(pauses_recording()),
        inputs_(run.inputs.begin(), run.inputs.end()),
        outputs_(run.outputs.begin(), run.outputs.end()) {
    for (const CustomInput& input : run.operands) {
      operands_.push_back({borrowed(input.array()), !input.differentiable(), !input.value_needed()});
    }
    results_.reserve(run.results.size());  // written_ points into it
    for (const CustomOutput& output : run.results) {
      results_.push_back({borrowed(output.array()), output.adds()});
      written_.emplace_back(results_.back().array);
    }
  }
  CustomForwardCommand(const CustomForwardCommand&) = delete;
  CustomForwardCommand& operator=(const CustomForwardCommand&) = delete;
  void run() override {
    for (const Result& result : results_)
      if (Storage* const storage = result.array.storage().get()) storage->mutable_data();
    const NoGrad not_recorded;
    run_now(CustomRun{.operation = operation_, .inputs = inputs_, .outputs = outputs_, .results = written_});
  }
  bool is_recordable() const override { return true; }
  void record(const Graph::State& graph) override {
    std::optional<NoGrad> no_grad;
    if (not_recorded_) no_grad.emplace();
    std::vector<DeviceArray> arrays;
    arrays.reserve(operands_.size() + results_.size());
    std::vector<CustomInput> inputs;
    std::vector<CustomOutput> outputs;
    for (const Operand& operand : operands_) {
      inputs.emplace_back(arrays.emplace_back(owned(graph, operand.array)));
      if (operand.constant) inputs.back().constant();
      if (operand.value_not_needed) inputs.back().value_not_needed();
    }
    for (const Result& result : results_) {
      outputs.emplace_back(arrays.emplace_back(owned(graph, result.array)));
      if (result.adds) outputs.back().add();
    }
    apply(operation_, inputs, outputs);
  }
  Touch touch(const Storage* storage) const override {
    for (const Operand& operand : operands_)
      if (lies_in(operand.array, storage)) return Touch::reads;
    for (const Result& result : results_)
      if (lies_in(result.array, storage)) {
        const bool whole = !result.adds && result.array.bytes() == storage->bytes();
        return whole ? Touch::overwrites : Touch::reads;
      }
    return Touch::none;
  }
  std::string text() const override { return operation_->name(); }

 private:
  struct Operand {
    DeviceArray array;
    bool constant, value_not_needed;
  };
  struct Result {
    DeviceArray array;
    bool adds;
  };
  std::shared_ptr<const CustomOperation> operation_;
  bool not_recorded_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<Operand> operands_;
  std::vector<Result> results_;
  std::vector<CustomOutput> written_;
};

class CustomBackwardCommand final : public Command {
 public:
  explicit CustomBackwardCommand(const CustomRun& run)
      : operation_(run.operation),
        inputs_(run.inputs.begin(), run.inputs.end()),
        output_cotangents_(run.output_cotangents.begin(), run.output_cotangents.end()),
        input_cotangents_(run.input_cotangents.begin(), run.input_cotangents.end()),
        input_sizes_(run.input_sizes.begin(), run.input_sizes.end()) {}
  void run() override {
    run_now(CustomRun{.operation = operation_,
                      .inputs = inputs_,
                      .is_backward = true,
                      .output_cotangents = output_cotangents_,
                      .input_cotangents = input_cotangents_,
                      .input_sizes = input_sizes_});
  }
  std::string text() const override { return novaphy::text("adjoint of ", operation_->name()); }

 private:
  std::shared_ptr<const CustomOperation> operation_;
  std::vector<const void*> inputs_;
  std::vector<const float*> output_cotangents_;
  std::vector<float*> input_cotangents_;
  std::vector<std::size_t> input_sizes_;
};

}  // namespace

std::unique_ptr<Command> make_kernel_command(const KernelRun& kernel) {
  const bool is_launch = kernel.adjoint == nullptr && !(kernel.inputs.empty() && kernel.outputs.empty());
  if (is_launch) return std::make_unique<LaunchCommand>(kernel);
  return std::make_unique<AddressCommand>(kernel);
}

std::unique_ptr<Command> make_custom_command(const CustomRun& custom) {
  if (custom.is_backward) return std::make_unique<CustomBackwardCommand>(custom);
  return std::make_unique<CustomForwardCommand>(custom);
}

}  // namespace nova
