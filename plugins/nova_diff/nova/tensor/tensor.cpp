// SPDX-License-Identifier: Apache-2.0
// Tensor: gradients, host access, recorded writes.
#include "novaphy/nova/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"
#include "nova/tensor/strided.hpp"
#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;

/// All numbers of an array as rows of one.
DeviceArray flat(const DeviceArray& array) {
  return DeviceArray(array.storage(), array.dtype(), Shape{array.size()});
}

void require_item(const DeviceArray& array, const char* what) {
  NOVAPHY_REQUIRE(array.dtype() == DType::f32, ErrorKind::type, what, ": the tensor is ",
                  to_string(array.dtype()), ", float32 is wanted");
}

const Kernel& copy_kernel() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "assign", .in = {in("source", Row::f32)}, .out = {out("target", Row::f32)}},
      [](KernelScope& k) { k.write("target", k.f32("source")); });
  return kernel;
}

const Kernel& fill_kernel() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "fill", .in = {in("value", Row::f32).value()}, .out = {out("target", Row::f32)}},
      [](KernelScope& k) { k.write("target", k.f32("value")); });
  return kernel;
}

class FillIntegers final : public CustomOperation {
 public:
  FillIntegers(DType dtype, std::int64_t count, std::int64_t value)
      : dtype_(dtype), count_(count), value_(value) {}
  const char* name() const noexcept override { return "fill"; }
  void forward(const Forward& f) const override {
    if (dtype_ == DType::u8)
      std::fill_n(static_cast<std::uint8_t*>(f.outputs[0]), count_, static_cast<std::uint8_t>(value_));
    else
      std::fill_n(static_cast<std::uint32_t*>(f.outputs[0]), count_, static_cast<std::uint32_t>(value_));
  }
  void backward(const Backward&) const override {}  // integers have no cotangents
  void tangent(const Tangent&) const override {}
  void backward_tangent(const BackwardTangent&) const override {}

 private:
  DType dtype_;
  std::int64_t count_, value_;
};

std::int64_t integer_of(double value, DType dtype, const char* who) {
  const double low = dtype == DType::i32 ? std::numeric_limits<std::int32_t>::min() : 0;
  const double high = dtype == DType::i32   ? std::numeric_limits<std::int32_t>::max()
                      : dtype == DType::u32 ? std::numeric_limits<std::uint32_t>::max()
                                            : std::numeric_limits<std::uint8_t>::max();
  NOVAPHY_REQUIRE(low <= value && value <= high && value == std::floor(value), ErrorKind::value,
                  who, ": the tensor is ", to_string(dtype), " and cannot hold ", value);
  return static_cast<std::int64_t>(value);
}

void copy_recorded(DeviceArray& target, const DeviceArray& source, const char* what) {
  NOVAPHY_REQUIRE(target.shape() == source.shape(), ErrorKind::shape_mismatch, what, ": ",
                  target.storage() ? to_string(target.storage()->label()) : "the target", " has shape ",
                  to_string(target.shape()), ", the source ", to_string(source.shape()));
  NOVAPHY_REQUIRE(target.dtype() == source.dtype(), ErrorKind::type, what, ": the tensor is ",
                  to_string(target.dtype()), ", the source ", to_string(source.dtype()));
  const bool shifted = share_memory(source, target) && source.storage()->data() != target.storage()->data();
  if (shifted) {
    copy_recorded(target, Tensor(source).clone().array(), what);
  } else if (target.dtype() == DType::f32) {
    launch(copy_kernel(), {flat(source)}, {flat(target)}, target.size());
  } else if (source.storage() != target.storage()) {
    copy_packed(source, target);
  }
}

}  // namespace

Tensor& Tensor::set_requires_grad(bool wanted) {
  NOVAPHY_REQUIRE(!wanted || dtype() == DType::f32, ErrorKind::type,
                  "nova.Tensor: requires_grad wants float32, this tensor is ", to_string(dtype()));
  if (storage()) storage()->set_requires_grad(wanted);
  return *this;
}

std::optional<Tensor> Tensor::grad() const {
  const std::optional<DeviceArray> array = grad_of(array_);
  return array ? std::optional<Tensor>(Tensor(*array)) : std::nullopt;
}

std::optional<DeviceArray> grad_of(const DeviceArray& array) {
  NOVAPHY_REQUIRE(!is_recording(), ErrorKind::gradient_not_ready,
                  "nova.Tensor.grad: the recording is still open, so there is no gradient yet; read it after "
                  "Tape.backward");
  const Slot* const slot = array.storage() ? find_slot(array.storage()->base()) : nullptr;
  if (slot == nullptr || !slot->grad) return std::nullopt;
  const auto& own = array.storage();
  Effects::now().read_gradient(base_of(own));
  return DeviceArray(
      own->root() ? novaphy::Storage::region(slot->grad, own->offset(), own->bytes()) : slot->grad,
      DType::f32, array.shape());
}

void Tensor::zero_grad() {
  if (storage()) Effects::now().drop_gradient(base_of(storage()));
}

float Tensor::item() const {
  NOVAPHY_REQUIRE(size() == 1, ErrorKind::value, "nova.Tensor.item: the tensor has shape ",
                  to_string(shape()), ", one element is wanted");
  require_item(array_, "nova.Tensor.item");
  novaphy::refuse_in_capture("nova.Tensor.item");
  return array_.read<float>()[0];
}

void Tensor::fill(double value, const char* who) {
  if (dtype() == DType::f32) {
    launch(fill_kernel(), {static_cast<float>(value)}, {flat(array_)}, size());
  } else {
    apply(std::make_shared<FillIntegers>(dtype(), size(), integer_of(value, dtype(), who)), {}, {array_});
  }
}

Tensor Tensor::reshape(const Shape& shape) const {
  NOVAPHY_REQUIRE(shape.size() == size(), ErrorKind::shape_mismatch,
                  "nova.Tensor.reshape: a tensor of shape ", to_string(array_.shape()), " has ", size(),
                  " elements, shape ", to_string(shape), " has ", shape.size());
  return Tensor(DeviceArray(storage(), dtype(), shape));
}

Tensor Tensor::detach() const {
  const NoGrad not_recorded;
  Tensor copy(shape(), dtype(), array_.device());
  copy.assign(*this);
  return copy;
}

Tensor Tensor::clone() const {
  Tensor copy(shape(), dtype(), array_.device());
  copy.assign(*this);
  return copy;
}

Tensor Tensor::to(novaphy::Device device) const {
  return device == array_.device() ? *this : Tensor(shape(), dtype(), device);
}

void Tensor::assign(const Tensor& source) {
  copy_recorded(array_, source.array(), "nova.Tensor.assign");
}

void assign(DeviceArray& target, const Tensor& source) {
  copy_recorded(target, source.array(), "assign");
}

// As if a launch had filled the array with that value.
void accept_outside_write(const DeviceArray& array) {
  TapeState* const tape = TapeState::active();
  if (tape == nullptr || !array.storage() || !tape->was_written_outside(*array.storage())) return;
  tape->begin_record(fill_kernel().compiled(), array.size(), 0);
  tape->note_number(0);
  tape->note_output(array.storage(), 0);
  if (array.storage()->escaped()) tape->note_content(*array.storage());
}

}  // namespace nova
