// SPDX-License-Identifier: Apache-2.0
// ScopedCapture: keeps effects as commands, and the arrays that they reach.
#include "nova/tape/capture.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace nova {

using novaphy::ErrorKind;
using novaphy::Storage;

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number{0};
  return ++number;
}

}  // namespace

Capture::Capture() : graph_(std::make_shared<Graph::State>()), number_(next_number()) {
  NOVAPHY_REQUIRE(!novaphy::is_capturing(), ErrorKind::capture,
                  "nova.ScopedCapture: this thread captures already; end that capture first");
  NOVAPHY_REQUIRE(
      novaphy::open_recording() == 0 || novaphy::open_recording() == novaphy::kNoRecording,
      ErrorKind::capture,
      "nova.ScopedCapture: a tape records on this thread; open the capture first and the tape inside it");
  replace(this);
  novaphy::capture_listener() = this;
}

Capture::~Capture() {
  leave();
}

void Capture::leave() noexcept {
  if (novaphy::capture_listener() != this) return;
  replace(nullptr);
  novaphy::capture_listener() = nullptr;
  // nothing ran, so gradients are what they were
  for (auto& [slot, before] : gradients_before_) slot->grad = before.grad, slot->grad_tape = before.grad_tape;
  for (const std::weak_ptr<TapeState>& weak : tapes_)
    if (const std::shared_ptr<TapeState> tape = weak.lock()) tape->reset();
}

std::shared_ptr<Graph::State> Capture::finish() {
  for (const std::weak_ptr<TapeState>& weak : tapes_)
    if (const std::shared_ptr<TapeState> tape = weak.lock())
      NOVAPHY_REQUIRE(
          !tape->open, ErrorKind::capture,
          "nova.ScopedCapture: a tape that was opened inside is still open; close it inside the capture");
  leave();
  drop_needless_clears();
  return std::move(graph_);
}

// An array that its first operation writes whole needs no clearing, one that no operation knows is not the
// graph's.
void Capture::drop_needless_clears() {
  auto& commands = graph_->commands;
  for (const auto& [storage, at] : clears_) {
    Touch first = read_.contains(storage) ? Touch::reads : Touch::none;
    for (std::size_t c = at + 1; c < commands.size() && first == Touch::none; ++c)
      if (commands[c]) first = commands[c]->touch(storage);
    if (first != Touch::reads) commands[at].reset();
    if (first == Touch::none && !named_.contains(storage))
      std::erase_if(graph_->own, [unused = storage](const auto& own) { return own.get() == unused; });
  }
  std::erase(commands, nullptr);
}

void Capture::use_root(const std::shared_ptr<Storage>& root) {
  if (known_.insert(root.get()).second) graph_->outer.push_back({root});
}

void Capture::use(const std::shared_ptr<Storage>& storage) {
  if (!storage) return;
  use_root(base_of(storage));
  if (!known_.insert(storage.get()).second) return;
  for (Graph::State::Outer& array : graph_->outer)
    if (array.root == storage->root()) return array.regions.push_back(storage);
  graph_->kept.push_back(storage);  // a region of what the graph owns
}

void Capture::allocated(const std::shared_ptr<Storage>& storage) {
  if (allocates_gradient_) return;
  known_.insert(storage.get());
  graph_->own.push_back(storage);
  clears_.emplace(storage.get(), graph_->commands.size());
  graph_->commands.push_back(make_clear_command(*storage));
}

void Capture::filled_from_host(const Storage& storage) {
  const auto clear = clears_.find(&storage);
  if (clear == clears_.end()) return;
  graph_->commands[clear->second].reset();
  clears_.erase(clear);
}

void Capture::run(const KernelRun& kernel) {
  for (const auto& operands : {kernel.inputs, kernel.outputs})
    for (const Operand& operand : operands)
      if (operand.array() != nullptr) use(operand.array()->storage());
  graph_->commands.push_back(make_kernel_command(kernel));
}

void Capture::run(const CustomRun& custom) {
  for (const CustomInput& input : custom.operands) use(input.array().storage());
  for (const CustomOutput& output : custom.results) use(output.array().storage());
  graph_->commands.push_back(make_custom_command(custom));
}

void Capture::zero(void* to, std::size_t bytes) {
  graph_->commands.push_back(make_zero_command(to, bytes));
}

void Capture::set(float* to, float value) {
  graph_->commands.push_back(make_set_command(to, value));
}

void Capture::copy(void* to, const void* from, std::size_t bytes) {
  graph_->commands.push_back(make_copy_command(to, from, bytes));
}

Slot& Capture::touch(Storage& array) {
  named_.insert(&array);
  Slot& slot = slot_of(array);
  gradients_before_.try_emplace(&slot, Before{slot.grad, slot.grad_tape});
  return slot;
}

// The buffer where the gradient of this array will always be as long as the graph lives.
std::shared_ptr<Storage> Capture::pin(const std::shared_ptr<Storage>& array) {
  Slot& slot = touch(*array);
  std::shared_ptr<Storage> buffer = slot.pinned.lock();
  if (!buffer) {
    const std::shared_ptr<Storage>& before = gradients_before_.at(&slot).grad;
    allocates_gradient_ = true;
    buffer = before ? before : Storage::allocate(array->device(), array->bytes());
    allocates_gradient_ = false;
    slot.pinned = buffer;
  }
  if (known_.insert(buffer.get()).second) graph_->kept.push_back(buffer);
  return buffer;
}

void Capture::store_gradient(const std::shared_ptr<Storage>& array, const float* cotangent, GradientStore how,
                             std::uint64_t recording) {
  use(array);
  Slot& slot = touch(*array);
  slot.grad = pin(array), slot.grad_tape = recording;
  checked_.insert(array.get());
  graph_->commands.push_back(make_store_command(*array, cotangent, how, recording));
}

void Capture::drop_gradient(const std::shared_ptr<Storage>& array) {
  use(array);
  touch(*array).grad.reset();
  checked_.erase(array.get());
  graph_->commands.push_back(make_drop_command(*array));
}

void Capture::read_gradient(const std::shared_ptr<Storage>& array) {
  use(array);
  Slot& slot = touch(*array);
  slot.grad = pin(array);
  if (checked_.insert(array.get()).second) graph_->commands.push_back(make_gradient_check(*array));
}

void Capture::read(const std::shared_ptr<Storage>& array) {
  use(array);
  if (array) read_.insert(&array->base());
}

void Capture::keep(std::shared_ptr<void> memory) {
  graph_->kept.push_back(std::move(memory));
}

void Capture::opened(const std::shared_ptr<TapeState>& tape) {
  tapes_.push_back(tape);
}

ScopedCapture::ScopedCapture() : capture_(std::make_unique<Capture>()) {}
ScopedCapture::~ScopedCapture() = default;

bool ScopedCapture::is_on_this_thread() const noexcept {
  return capture_ != nullptr && novaphy::capture_listener() == capture_.get();
}

Graph ScopedCapture::finish() {
  NOVAPHY_REQUIRE(capture_ != nullptr, ErrorKind::capture,
                  "nova.ScopedCapture: this capture has ended already");
  NOVAPHY_REQUIRE(is_on_this_thread(), ErrorKind::capture,
                  "nova.ScopedCapture: another thread captures with it; end it on that thread");
  Graph graph(capture_->finish());
  capture_.reset();
  return graph;
}

}  // namespace nova
