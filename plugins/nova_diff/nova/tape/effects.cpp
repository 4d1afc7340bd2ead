// SPDX-License-Identifier: Apache-2.0
// The effects that act at once.
#include "nova/tape/effects.hpp"

#include <cstring>

#include "nova/kernel/execute.hpp"
#include "nova/tape/find_anomaly.hpp"
#include "nova/tensor/slot.hpp"

namespace nova {
namespace {

class AtOnce final : public Effects {
 public:
  void run(const KernelRun& kernel) override { run_now(kernel); }
  void run(const CustomRun& custom) override { run_now(custom); }
  void zero(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }
  void set(float* to, float value) override { *to = value; }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void store_gradient(const std::shared_ptr<novaphy::Storage>& array, const float* cotangent,
                      GradientStore how, std::uint64_t recording) override {
    store_gradient_now(*array, cotangent, how, recording);
  }
  void drop_gradient(const std::shared_ptr<novaphy::Storage>& array) override {
    if (Slot* const slot = find_slot(*array)) slot->grad.reset();
  }
};

AtOnce at_once;
thread_local Effects* replaced = nullptr;

}  // namespace

Effects& Effects::now() noexcept {
  return replaced == nullptr ? static_cast<Effects&>(at_once) : *replaced;
}

void Effects::replace(Effects* effects) noexcept {
  replaced = effects;
}

namespace {

void raise(const std::string& anomaly) {
  NOVAPHY_REQUIRE(anomaly.empty(), novaphy::ErrorKind::generic, anomaly);
}

}  // namespace

void run_now(const KernelRun& kernel) {
  const std::string anomaly = looks_for_anomalies() ? find_anomaly(kernel) : std::string();
  const Code& code = kernel.adjoint == nullptr ? kernel.kernel->code : kernel.adjoint->code;
  execute(code, kernel.arguments, kernel.results, kernel.rows, kernel.domain, kernel.index);
  raise(anomaly);
}

void run_now(const CustomRun& custom) {
  if (custom.is_backward)
    custom.operation->backward({custom.inputs, custom.output_cotangents, custom.input_cotangents});
  else
    custom.operation->forward({custom.inputs, custom.outputs});
  if (looks_for_anomalies()) raise(find_anomaly(custom));
}

void store_gradient_now(novaphy::Storage& array, const float* cotangent, GradientStore how,
                        std::uint64_t recording) {
  Slot& slot = slot_of(array);
  slot.grad_tape = recording;
  const bool fresh = !slot.grad || how == GradientStore::anew;
  if (fresh) slot.grad = slot.pinned.lock();
  if (!slot.grad) slot.grad = novaphy::Storage::allocate(array.device(), array.bytes());
  auto* const grad = static_cast<float*>(slot.grad->mutable_data());
  if (fresh)
    std::memcpy(grad, cotangent, array.bytes());
  else
    for (std::size_t i = 0; i < array.bytes() / sizeof(float); ++i) grad[i] += cotangent[i];
}

}  // namespace nova
