// SPDX-License-Identifier: Apache-2.0
// Tensor: gradients, host access, recorded writes.
#include "novaphy/nova/tensor.hpp"

#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"
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

void require_float(const DeviceArray& array, const char* what) {
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

void copy_recorded(DeviceArray& target, const DeviceArray& source, const char* what) {
  NOVAPHY_REQUIRE(target.shape() == source.shape(), ErrorKind::shape_mismatch, what, ": ",
                  target.storage() ? to_string(target.storage()->label()) : "the target", " has shape ",
                  to_string(target.shape()), ", the source ", to_string(source.shape()));
  require_float(target, what), require_float(source, what);
  launch(copy_kernel(), {flat(source)}, {flat(target)}, target.size());
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
  require_float(array_, "nova.Tensor.item");
  novaphy::refuse_in_capture("nova.Tensor.item");
  return array_.read<float>()[0];
}

void Tensor::fill(float value) {
  require_float(array_, "nova.Tensor.fill");
  launch(fill_kernel(), {value}, {flat(array_)}, size());
}

Tensor Tensor::reshape(const Shape& shape) const {
  NOVAPHY_REQUIRE(shape.size() == size(), ErrorKind::shape_mismatch,
                  "nova.Tensor.reshape: a tensor of shape ", to_string(array_.shape()), " has ", size(),
                  " elements, shape ", to_string(shape), " has ", shape.size());
  return Tensor(DeviceArray(storage(), dtype(), shape));
}

Tensor Tensor::detach() const {
  if (dtype() != DType::f32 || !storage()) {
    Tensor copy(array_.clone());
    if (copy.storage()) copy.storage()->set_recording(0);
    return copy;
  }
  const NoGrad not_recorded;
  Tensor copy(shape(), dtype(), array_.device());
  copy.assign(*this);
  return copy;
}

Tensor Tensor::clone() const {
  if (dtype() != DType::f32) return detach();
  Tensor copy(shape(), dtype(), array_.device());
  copy.assign(*this);
  return copy;
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
