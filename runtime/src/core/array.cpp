// SPDX-License-Identifier: Apache-2.0
// Shapes, labels and the shaped handle of a storage.
#include "novaphy/array.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace novaphy {

const char* to_string(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::i32:
      return "int32";
    case DType::u32:
      return "uint32";
    case DType::u8:
      return "uint8";
  }
  return "unknown";
}

Shape::Shape(std::span<const std::int64_t> extents) : ndim_(static_cast<int>(extents.size())) {
  NOVAPHY_REQUIRE(extents.size() <= kMaxDims, ErrorKind::value, "a shape has ", extents.size(),
                  " extents: want at most ", kMaxDims);
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::int64_t extent = extents[axis];
    NOVAPHY_REQUIRE(extent >= 0, ErrorKind::value, "extent ", axis, " of a shape is ", extent,
                    ": want 0 or more");
    NOVAPHY_REQUIRE(extent == 0 || elements <= std::numeric_limits<std::int64_t>::max() / 16 / extent,
                    ErrorKind::value, "a shape has more elements than memory can hold (extent ", axis, " is ",
                    extent, ")");
    elements *= extent == 0 ? 1 : extent;
    extents_[axis] = extent;
  }
}

std::int64_t Shape::width() const noexcept {
  std::int64_t product = 1;
  for (int axis = 1; axis < ndim_; ++axis) product *= (*this)[axis];
  return product;
}

std::string to_string(const Shape& shape) {
  std::string out = "(";
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    if (axis > 0) out += ", ";
    out += std::to_string(shape[axis]);
  }
  return out + ")";
}

std::string to_string(const ArrayLabel& label) {
  if (label.name.empty()) return "a tensor";
  std::string out = "'" + label.name + "'";
  if (*label.owner) out += std::string(" of ") + label.owner;
  if (label.owner_index >= 0) out += " #" + std::to_string(label.owner_index);
  return out;
}

DeviceArray::DeviceArray(DType dtype, Shape shape, Device device) : shape_(shape), dtype_(dtype) {
  storage_ = Storage::allocate(device, bytes());
}

DeviceArray::DeviceArray(std::shared_ptr<Storage> storage, DType dtype, Shape shape)
    : storage_(std::move(storage)), shape_(shape), dtype_(dtype) {
  const std::size_t held = storage_ ? storage_->bytes() : 0;
  NOVAPHY_REQUIRE(bytes() <= held, ErrorKind::shape_mismatch, "an array of shape ", to_string(shape_),
                  " and dtype ", to_string(dtype_), " needs ", bytes(), " bytes: its memory has ", held);
}

namespace {

// A copy of a recording's value is a value of that recording, unless the caller wants none.
std::uint64_t carried_recording(const Storage& source) {
  return open_recording() == kNoRecording ? 0 : source.recording();
}

}  // namespace

std::uint64_t& open_recording() noexcept {
  thread_local std::uint64_t number = 0;
  return number;
}

void DeviceArray::join_open_recording() noexcept {
  if (storage_) storage_->set_recording(open_recording() == kNoRecording ? 0 : open_recording());
}

void DeviceArray::fail_captured_write() const {
  fail_in_capture("a write from the host into " +
                  (storage_ ? to_string(storage_->label()) : std::string("an empty array")));
}

void DeviceArray::zero() {
  if (is_capturing()) fail_captured_write();
  if (storage_) std::memset(storage_->mutable_data(), 0, bytes());
}

void DeviceArray::copy_from(const DeviceArray& source) {
  if (is_capturing()) fail_captured_write();
  const std::string self = storage_ ? to_string(storage_->label()) : "an empty array";
  NOVAPHY_REQUIRE(source.dtype_ == dtype_, ErrorKind::type, self, " has dtype ", to_string(dtype_),
                  ": got an array of dtype ", to_string(source.dtype_));
  NOVAPHY_REQUIRE(source.shape_ == shape_, ErrorKind::shape_mismatch, self, " has shape ", to_string(shape_),
                  ": got an array of shape ", to_string(source.shape_));
  NOVAPHY_REQUIRE(source.device() == device(), ErrorKind::device_mismatch, self, " lies on device '",
                  to_string(device()), "': got an array on device '", to_string(source.device()), "'");
  if (bytes() == 0) return;
  const std::uint64_t recording = carried_recording(*source.storage_);
  std::memmove(storage_->mutable_data(), source.storage_->data(), bytes());
  storage_->set_recording(recording);
}

void DeviceArray::copy_bytes(const void* source, std::size_t count) {
  NOVAPHY_REQUIRE(count == bytes(), ErrorKind::shape_mismatch,
                  storage_ ? to_string(storage_->label()) : "an empty array", " of shape ", to_string(shape_),
                  " and dtype ", to_string(dtype_), " takes ", bytes(), " bytes: got ", count);
  if (count > 0) std::memcpy(storage_->mutable_data(), source, count);
}

void DeviceArray::assign_bytes(const void* source, std::size_t count) {
  if (is_capturing()) fail_captured_write();
  copy_bytes(source, count);
}

void DeviceArray::fill_new(const void* source, std::size_t count) {
  copy_bytes(source, count);
  if (is_capturing()) capture_listener()->filled_from_host(*storage_);
}

DeviceArray DeviceArray::clone() const {
  if (is_capturing())
    fail_in_capture("DeviceArray.clone of " +
                    (storage_ ? to_string(storage_->label()) : std::string("an empty array")));
  if (!storage_) return *this;
  DeviceArray out(dtype_, shape_, device());
  std::memcpy(out.storage_->data_without_version(), storage_->data(), bytes());
  out.storage_->set_label(storage_->label());
  out.storage_->set_recording(carried_recording(*storage_));
  out.storage_->set_requires_grad(storage_->requires_grad());
  return out;
}

DeviceArray DeviceArray::slice_rows(std::int64_t begin, std::int64_t end) const {
  NOVAPHY_REQUIRE(shape_.ndim() > 0 && 0 <= begin && begin <= end && end <= rows(), ErrorKind::index, "rows ",
                  begin, " to ", end, " of an array of shape ", to_string(shape_));
  std::array<std::int64_t, Shape::kMaxDims> extents{};
  std::copy(shape_.extents().begin(), shape_.extents().end(), extents.begin());
  extents[0] = end - begin;
  const Shape shape(std::span<const std::int64_t>(extents.data(), static_cast<std::size_t>(shape_.ndim())));
  if (shape.size() == 0) return DeviceArray(dtype_, shape, device());
  const std::size_t row = static_cast<std::size_t>(shape_.width()) * size_of(dtype_);
  const std::size_t bytes = static_cast<std::size_t>(end - begin) * row;
  return DeviceArray(Storage::region(storage_, static_cast<std::size_t>(begin) * row, bytes), dtype_, shape);
}

DeviceArray& DeviceArray::named(std::string name, const char* owner, int owner_index) {
  if (storage_) storage_->set_label({std::move(name), owner, owner_index});
  return *this;
}

void DeviceArray::fail_view(std::size_t element) const {
  fail(ErrorKind::type, storage_ ? to_string(storage_->label()) : "an empty array", " of shape ",
       to_string(shape_), " and dtype ", to_string(dtype_), " was read as elements of another dtype or of ",
       element, " bytes");
}

}  // namespace novaphy
