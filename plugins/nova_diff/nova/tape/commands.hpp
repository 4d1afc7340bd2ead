// SPDX-License-Identifier: Apache-2.0
// What a graph is made of: operations with resolved addresses. They hold no arrays; the graph does.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nova/tape/effects.hpp"
#include "novaphy/nova/capture.hpp"

namespace nova {

/// How a command meets an array for the first time.
enum class Touch : std::uint8_t { none, overwrites, reads };

class Command {
 public:
  virtual ~Command() = default;
  virtual void run() = 0;
  virtual std::string text() const = 0;
  /// Whether a tape can record it.
  virtual bool is_recordable() const { return false; }
  /// Runs it as a launch of its own, which the open tape records.
  virtual void record(const Graph::State&) {}
  virtual Touch touch(const novaphy::Storage*) const { return Touch::none; }
  virtual void add_numbers(std::vector<FrozenNumber>&) const {}
  /// Whether it counts as an operation, and is no check.
  virtual bool is_operation() const { return true; }
};

struct Graph::State {
  std::vector<std::unique_ptr<Command>> commands;
  /// An array from before the capture, and the regions of it that commands know.
  struct Outer {
    std::shared_ptr<novaphy::Storage> root;
    std::vector<std::shared_ptr<novaphy::Storage>> regions{};
    bool is_held_elsewhere() const noexcept;
  };
  std::vector<Outer> outer;
  std::vector<std::shared_ptr<novaphy::Storage>> own;  ///< arrays that were allocated inside
  std::vector<std::shared_ptr<void>> kept;             ///< gradients, cotangents

  /// The owning pointer of an array that a command knows.
  std::shared_ptr<novaphy::Storage> owner(const novaphy::Storage* storage) const;
};

std::unique_ptr<Command> make_kernel_command(const KernelRun& kernel);
std::unique_ptr<Command> make_custom_command(const CustomRun& custom);
/// Clears an array that the graph owns.
std::unique_ptr<Command> make_clear_command(novaphy::Storage& storage);
std::unique_ptr<Command> make_zero_command(void* to, std::size_t bytes);
std::unique_ptr<Command> make_set_command(float* to, float value);
std::unique_ptr<Command> make_copy_command(void* to, const void* from, std::size_t bytes);
std::unique_ptr<Command> make_store_command(novaphy::Storage& array, const float* cotangent,
                                            GradientStore how, std::uint64_t recording);
std::unique_ptr<Command> make_drop_command(novaphy::Storage& array);
std::unique_ptr<Command> make_gradient_check(novaphy::Storage& array);

}  // namespace nova
