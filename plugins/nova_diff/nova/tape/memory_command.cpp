// SPDX-License-Identifier: Apache-2.0
// Clearing, copying and gradients as commands of a graph.
#include <cstring>

#include "nova/tape/commands.hpp"
#include "nova/tensor/slot.hpp"
#include "novaphy/nova/tensor.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;
using novaphy::Storage;

class ClearCommand final : public Command {
 public:
  explicit ClearCommand(Storage& storage) : storage_(storage) {}
  void run() override { std::memset(storage_.mutable_data(), 0, storage_.bytes()); }
  bool is_recordable() const override { return true; }
  // To a tape it is a fill: what an earlier launch of the graph left there is overwritten.
  void record(const Graph::State& graph) override {
    if (storage_.bytes() % sizeof(float) != 0) return run();
    const auto count = static_cast<std::int64_t>(storage_.bytes() / sizeof(float));
    Tensor(DeviceArray(graph.owner(&storage_), DType::f32, Shape{count})).zero();
  }
  std::string text() const override { return "clear " + to_string(storage_.label()); }

 private:
  Storage& storage_;
};

class ZeroCommand final : public Command {
 public:
  ZeroCommand(void* to, std::size_t bytes) : to_(to), bytes_(bytes) {}
  void run() override { std::memset(to_, 0, bytes_); }
  std::string text() const override { return "clear a cotangent"; }

 private:
  void* to_;
  std::size_t bytes_;
};

class SetCommand final : public Command {
 public:
  SetCommand(float* to, float value) : to_(to), value_(value) {}
  void run() override { *to_ = value_; }
  std::string text() const override { return novaphy::text("set a cotangent to ", value_); }

 private:
  float* to_;
  float value_;
};

class CopyCommand final : public Command {
 public:
  CopyCommand(void* to, const void* from, std::size_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  void run() override { std::memcpy(to_, from_, bytes_); }
  std::string text() const override { return "copy a cotangent"; }

 private:
  void* to_;
  const void* from_;
  std::size_t bytes_;
};

class StoreCommand final : public Command {
 public:
  StoreCommand(Storage& array, const float* cotangent, GradientStore how, std::uint64_t recording)
      : array_(array), cotangent_(cotangent), recording_(recording), how_(how) {}
  void run() override { store_gradient_now(array_, cotangent_, how_, recording_); }
  std::string text() const override { return "add to the gradient of " + to_string(array_.label()); }

 private:
  Storage& array_;
  const float* cotangent_;
  std::uint64_t recording_;
  GradientStore how_;
};

class DropCommand final : public Command {
 public:
  explicit DropCommand(Storage& array) : array_(array) {}
  void run() override {
    if (Slot* const slot = find_slot(array_)) slot->grad.reset();
  }
  std::string text() const override { return "drop the gradient of " + to_string(array_.label()); }

 private:
  Storage& array_;
};

class GradientCheck final : public Command {
 public:
  explicit GradientCheck(Storage& array) : array_(array) {}
  void run() override {
    const Slot* const slot = find_slot(array_);
    NOVAPHY_REQUIRE(
        slot != nullptr && slot->grad, ErrorKind::capture, "graph.launch: the graph reads the gradient of ",
        to_string(array_.label()),
        ", which was there when it was captured and has been cleared since; launch after a backward, or "
        "capture the backward too");
  }
  std::string text() const override { return "read the gradient of " + to_string(array_.label()); }
  bool is_operation() const override { return false; }

 private:
  Storage& array_;
};

}  // namespace

std::unique_ptr<Command> make_clear_command(Storage& storage) {
  return std::make_unique<ClearCommand>(storage);
}
std::unique_ptr<Command> make_zero_command(void* to, std::size_t bytes) {
  return std::make_unique<ZeroCommand>(to, bytes);
}
std::unique_ptr<Command> make_set_command(float* to, float value) {
  return std::make_unique<SetCommand>(to, value);
}
std::unique_ptr<Command> make_copy_command(void* to, const void* from, std::size_t bytes) {
  return std::make_unique<CopyCommand>(to, from, bytes);
}
std::unique_ptr<Command> make_store_command(Storage& array, const float* cotangent, GradientStore how,
                                            std::uint64_t recording) {
  return std::make_unique<StoreCommand>(array, cotangent, how, recording);
}
std::unique_ptr<Command> make_drop_command(Storage& array) {
  return std::make_unique<DropCommand>(array);
}
std::unique_ptr<Command> make_gradient_check(Storage& array) {
  return std::make_unique<GradientCheck>(array);
}

}  // namespace nova
