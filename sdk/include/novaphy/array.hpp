// SPDX-License-Identifier: Apache-2.0
// Typed memory with a version: Storage is the block, DeviceArray the shaped handle that the engine uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "novaphy/capture.hpp"
#include "novaphy/device.hpp"
#include "novaphy/error.hpp"
#include "novaphy/export.hpp"

namespace novaphy {

enum class DType : std::uint8_t { f32 = 0, i32 = 1, u32 = 2, u8 = 3 };

constexpr std::size_t size_of(DType dtype) noexcept {
  return dtype == DType::u8 ? 1 : 4;
}
/// "float32", "int32", "uint32", "uint8".
NOVAPHY_API const char* to_string(DType dtype) noexcept;

template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of<std::uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct dtype_of<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <DType>
struct element_type;
template <>
struct element_type<DType::f32> {
  using type = float;
};
template <>
struct element_type<DType::i32> {
  using type = std::int32_t;
};
template <>
struct element_type<DType::u32> {
  using type = std::uint32_t;
};
template <>
struct element_type<DType::u8> {
  using type = std::uint8_t;
};
/// float for DType::f32, and so on.
template <DType dtype>
using element_of = typename element_type<dtype>::type;
template <class T>
concept ArrayElement = requires {
  dtype_of<T>::value;
};

/// Up to four extents, row-major and tightly packed. The first is the number of rows.
class NOVAPHY_API Shape {
 public:
  static constexpr int kMaxDims = 4;
  Shape() = default;  // zero dimensions: one element
  Shape(std::initializer_list<std::int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::int64_t> extents);

  int ndim() const noexcept { return ndim_; }
  std::int64_t operator[](int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t rows() const noexcept { return ndim_ == 0 ? 1 : extents_[0]; }
  /// Elements in a row: the product of the extents after the first.
  std::int64_t width() const noexcept;
  std::int64_t size() const noexcept { return rows() * width(); }
  std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), static_cast<std::size_t>(ndim_)};
  }
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxDims> extents_{};
  int ndim_ = 0;
};

/// "(289, 3)".
NOVAPHY_API std::string to_string(const Shape& shape);

/// Whose array a storage is; used in messages: "'particle_q' of state #0".
struct ArrayLabel {
  std::string name;        ///< "particle_q"; empty for a nameless tensor
  const char* owner = "";  ///< "model", "state", "control", "contacts" or "" (static text)
  int owner_index = -1;    ///< states are numbered per Model in order of creation; -1 = no number
};
/// "'particle_q' of state #0", "'gravity' of model", or "a tensor".
NOVAPHY_API std::string to_string(const ArrayLabel& label);

/// The number of the recording that is open on this thread: 0 = none, kNoRecording = the caller wants none
/// (no_grad). The tape sets it.
NOVAPHY_API std::uint64_t& open_recording() noexcept;
inline constexpr std::uint64_t kNoRecording = ~std::uint64_t{0};

/// One block of memory, or a region of one. Every write through the engine or Nova raises `version()`, so
/// that a recording can tell that a value which it needs was overwritten. A region is a storage of its own
/// over a part of another one, its root: a write through either raises the version of itself, of the root and
/// of every region that it touches, and of no other. Label, requires_grad, escaped() and the gradient are the
/// root's. Not thread-safe: one writer at a time, and region() counts as a write.
class NOVAPHY_API Storage {
 public:
  /// Zeroed memory on `device`, 64-byte aligned, with 64 readable bytes after the end.
  /// Throws Error(plugin_not_available) when the device has no backend.
  static std::shared_ptr<Storage> allocate(Device device, std::size_t bytes);
  /// Memory of somebody else, kept alive by `owner`. It counts as escaped when others may write it, and has
  /// no readable bytes after the end.
  static std::shared_ptr<Storage> wrap(void* data, std::size_t bytes, Device device,
                                       std::shared_ptr<void> owner, bool others_may_write);
  /// The bytes [offset, offset + bytes) of `of`, which may itself be a region. The same object for the same
  /// bytes as long as somebody holds it; keeps the root alive; the whole of a root is the root. Throws
  /// Error(index) outside of `of`.
  static std::shared_ptr<Storage> region(const std::shared_ptr<Storage>& of, std::size_t offset,
                                         std::size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const void* data() const noexcept { return data_; }
  /// The only writable access for engine code: raises the version, and the content belongs to no recording.
  void* mutable_data() noexcept {
    raise_version();
    set_recording(0);
    return data_;
  }
  /// Writable access that leaves the version alone. For the writer that has already raised it.
  void* data_without_version() noexcept { return data_; }
  void raise_version() noexcept {
    ++version_;
    if (has_relatives()) [[unlikely]]
      raise_relatives();
  }

  /// The storage that this is a region of, null when it is none.
  const std::shared_ptr<Storage>& root() const noexcept { return root_; }
  /// The root, or this.
  Storage& base() noexcept { return root_ ? *root_ : *this; }
  const Storage& base() const noexcept { return root_ ? *root_ : *this; }
  /// Bytes from the beginning of base().
  std::size_t offset() const noexcept { return offset_; }

  std::size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  std::uint64_t version() const noexcept { return version_; }
  bool has_slack() const noexcept { return has_slack_; }
  bool is_external() const noexcept { return external_; }

  /// A writable pointer left the engine (NumPy view, foreign memory): versions cannot see such writes, so a
  /// recording compares contents instead.
  bool escaped() const noexcept { return base().escaped_; }
  void mark_escaped() noexcept { base().escaped_ = true; }

  const ArrayLabel& label() const noexcept { return base().label_; }
  void set_label(ArrayLabel label) { base().label_ = std::move(label); }
  /// Whether backward keeps the gradient of this array.
  bool requires_grad() const noexcept { return base().requires_grad_; }
  void set_requires_grad(bool wanted) noexcept { base().requires_grad_ = wanted; }

  /// Number of the recording that this content was computed in, 0 = none. Launches of a tape set it, and so
  /// does what copies or computes beside the tape (clone, copy_from, forward solvers): a tape refuses to read
  /// such a value, since the gradient would end there without a word.
  std::uint64_t recording() const noexcept { return recording_; }
  void set_recording(std::uint64_t number) noexcept {
    recording_ = number;
    if (has_relatives()) [[unlikely]]
      tell_relatives(number);
  }

  std::shared_ptr<void>
      tensor_slot;  ///< the cached Nova tensor of this array; the runtime never looks inside

 private:
  struct Regions;
  Storage();
  bool has_relatives() const noexcept { return root_ || regions_; }
  template <class Action>
  void for_each_relative(Action action);
  void raise_relatives() noexcept;
  void tell_relatives(std::uint64_t recording) noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0, offset_ = 0;
  std::uint64_t version_ = 0, recording_ = 0;
  Device device_{};
  bool has_slack_ = false, external_ = false, escaped_ = false, requires_grad_ = false;
  ArrayLabel label_;
  std::shared_ptr<void> owner_;
  std::shared_ptr<Storage> root_;
  std::unique_ptr<Regions> regions_;
};

/// A packed array of float32, int32, uint32 or uint8 rows. Copying the handle shares the memory (as NumPy
/// does); clone() copies the memory.
class NOVAPHY_API DeviceArray {
 public:
  /// Empty: shape (0), float32, no storage.
  DeviceArray() = default;
  /// Zeroed.
  DeviceArray(DType dtype, Shape shape, Device device = {});
  DeviceArray(std::shared_ptr<Storage> storage, DType dtype, Shape shape);
  DeviceArray(const DeviceArray&) = default;
  DeviceArray& operator=(const DeviceArray&) = default;
  /// A handle that was moved from is empty.
  DeviceArray(DeviceArray&& other) noexcept : DeviceArray() { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  template <class T>
  static DeviceArray from(std::span<const T> values, Shape shape) {
    DeviceArray out(dtype_of<T>::value, shape);
    out.fill_new(values.data(), values.size_bytes());
    return out;
  }

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t rows() const noexcept { return shape_.rows(); }
  std::int64_t size() const noexcept { return shape_.size(); }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size()) * size_of(dtype_); }
  Device device() const noexcept { return storage_ ? storage_->device() : Device{}; }
  bool empty() const noexcept { return size() == 0; }
  const std::shared_ptr<Storage>& storage() const noexcept { return storage_; }
  std::uint64_t version() const noexcept { return storage_ ? storage_->version() : 0; }

  /// All elements. T is the element type, an enumeration of it, or a packed struct of floats (Vec3f for rows
  /// of three). Throws Error(type) when T does not fit; a type that no array holds (double) does not compile.
  template <class T>
  std::span<const T> read() const {
    check_view<T>();
    return {static_cast<const T*>(storage_ ? storage_->data() : nullptr), bytes() / sizeof(T)};
  }
  /// The same, writable; raises the version. Throws Error(capture) while this thread captures, as do all writes below.
  template <class T>
  std::span<T> write() {
    check_view<T>();
    if (is_capturing()) [[unlikely]] fail_captured_write();
    return {static_cast<T*>(storage_ ? storage_->mutable_data() : nullptr), bytes() / sizeof(T)};
  }

  void zero();
  /// Copies `source` into this memory. Throws Error(shape_mismatch), Error(type) or Error(device_mismatch).
  void copy_from(const DeviceArray& source);
  /// Copies raw bytes of the host into this memory; `count` must equal bytes().
  void assign_bytes(const void* source, std::size_t count);
  DeviceArray clone() const;
  /// Rows [begin, end) without a copy: a region of this memory. Throws Error(index) outside of [0, rows].
  DeviceArray slice_rows(std::int64_t begin, std::int64_t end) const;
  /// The content was just computed without the tape: a tape that is open on this thread refuses to read it as
  /// a constant.
  void join_open_recording() noexcept;

  /// Sets the name that messages use.
  DeviceArray& named(std::string name, const char* owner, int owner_index = -1);

 private:
  template <class T>
  void check_view() const {
    const bool fits = dtype_ == viewed_dtype<T>() && bytes() % sizeof(T) == 0;
    if (!fits) [[unlikely]]
      fail_view(sizeof(T));
  }
  template <class T>
  static constexpr DType viewed_dtype() {
    if constexpr (ArrayElement<T>) {
      return dtype_of<T>::value;
    } else if constexpr (std::is_enum_v<T>) {
      return dtype_of<std::underlying_type_t<T>>::value;
    } else {
      static_assert(std::is_class_v<T>, "arrays hold float, int32, uint32 and uint8");
      return DType::f32;
    }
  }
  void swap(DeviceArray& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(shape_, other.shape_);
    std::swap(dtype_, other.dtype_);
  }
  [[noreturn]] void fail_view(std::size_t element) const;
  [[noreturn]] void fail_captured_write() const;
  void fill_new(const void* source, std::size_t count);
  void copy_bytes(const void* source, std::size_t count);
  std::shared_ptr<Storage> storage_;
  Shape shape_{0};
  DType dtype_ = DType::f32;
};

/// Whether two arrays have bytes in common.
inline bool share_memory(const DeviceArray& a, const DeviceArray& b) noexcept {
  if (!a.storage() || !b.storage()) return false;
  const Storage &first = *a.storage(), &second = *b.storage();
  const bool may_meet = &first.base() == &second.base() || first.is_external() || second.is_external();
  if (!may_meet) return false;
  const auto* const begin_a = static_cast<const std::byte*>(first.data());
  const auto* const begin_b = static_cast<const std::byte*>(second.data());
  const std::less<> before;
  return before(begin_a, begin_b + b.bytes()) && before(begin_b, begin_a + a.bytes()) && !a.empty() &&
         !b.empty();
}

}  // namespace novaphy
