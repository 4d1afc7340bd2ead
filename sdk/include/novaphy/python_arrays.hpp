// SPDX-License-Identifier: Apache-2.0
// Arrays between Python and the engine: zero-copy views outwards, checked conversion inwards.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "novaphy/array.hpp"
#include "novaphy/dlpack.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {

namespace py = pybind11;

inline py::dtype numpy_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return py::dtype::of<float>();
    case DType::i32:
      return py::dtype::of<std::int32_t>();
    case DType::u32:
      return py::dtype::of<std::uint32_t>();
    case DType::u8:
      return py::dtype::of<std::uint8_t>();
  }
  fail(ErrorKind::type, "dtype ", static_cast<int>(dtype), " has no NumPy type");
}

/// The engine's element type that NumPy's `value` names. `where` begins the message ("DeviceArray").
inline DType dtype_argument(const py::object& value, const std::string& where) {
  const py::module_ numpy = py::module_::import("numpy");
  py::object asked = py::none();
  try {
    asked = numpy.attr("dtype")(value);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  if (!asked.is_none())
    for (const DType dtype : {DType::f32, DType::i32, DType::u32, DType::u8})
      if (asked.equal(numpy_dtype(dtype))) return dtype;
  fail(ErrorKind::type, where, ": dtype must be float32, int32, uint32 or uint8, got ",
       std::string(asked.is_none() ? py::str(py::repr(value)) : py::str(asked)));
}

inline py::tuple shape_tuple(const Shape& shape) {
  py::tuple out(static_cast<std::size_t>(shape.ndim()));
  for (int i = 0; i < shape.ndim(); ++i) out[static_cast<std::size_t>(i)] = py::int_(shape[i]);
  return out;
}

/// Bytes between neighbours along each axis.
inline py::tuple stride_tuple(const DeviceArray& array) {
  const int n = array.shape().ndim();
  py::tuple out(static_cast<std::size_t>(n));
  auto stride = static_cast<std::int64_t>(size_of(array.dtype()));
  for (int i = n - 1; i >= 0; --i) {
    out[static_cast<std::size_t>(i)] = py::int_(stride);
    stride *= array.shape()[i];
  }
  return out;
}

inline void require_cpu(const DeviceArray& array, const char* what) {
  NOVAPHY_REQUIRE(array.device().is_cpu(), ErrorKind::device_mismatch, what, ": the array lies on '",
                  to_string(array.device()), "', not on the CPU; copy it with .to('cpu') first");
}

/// "'particle_q' of state #0" or "a float32 array of shape (2, 3)".
inline std::string describe(const DeviceArray& array) {
  if (array.storage() && !array.storage()->label().name.empty()) return to_string(array.storage()->label());
  return text("a ", to_string(array.dtype()), " array of shape ", to_string(array.shape()));
}

/// Rounds once. Throws Error(value) for a finite number that no float32 can hold.
inline float float32_of(double number, const char* where) {
  const auto rounded = static_cast<float>(number);
  NOVAPHY_REQUIRE(!std::isinf(rounded) || std::isinf(number), ErrorKind::value, where, " is ", number,
                  ", too large for float32");
  return rounded;
}

namespace detail {
/// A NumPy array on the memory itself, with the storage as its base. `writable` is NumPy's flag and nothing
/// more.
inline py::array numpy_on(const DeviceArray& array, bool writable) {
  require_cpu(array, "numpy()");
  refuse_in_capture("numpy(), the values of an array on the host");
  const std::shared_ptr<Storage>& storage = array.storage();
  std::vector<py::ssize_t> shape;
  for (const std::int64_t extent : array.shape().extents()) shape.push_back(static_cast<py::ssize_t>(extent));
  const py::capsule base(new std::shared_ptr<Storage>(storage),
                         [](void* p) { delete static_cast<std::shared_ptr<Storage>*>(p); });
  static float nothing = 0.0f;  // an address for arrays without elements
  const void* data = storage && storage->data() ? storage->data() : &nothing;
  py::array view(numpy_dtype(array.dtype()), std::move(shape), data, base);
  if (!writable) py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}
}  // namespace detail

/// Zero copy. A writable view lets others write behind the engine's back, so the storage counts as escaped
/// from then on: a recording compares its contents instead of trusting its version.
inline py::array numpy_view(const DeviceArray& array, bool writable) {
  if (writable && array.storage()) array.storage()->mark_escaped();
  return detail::numpy_on(array, writable);
}

/// The value of `__array__(dtype, copy)`: the read-only view where that will do, else a copy. ValueError for
/// copy=False where it will not.
inline py::object numpy_copy_or_view(const DeviceArray& array, const py::object& dtype,
                                     const py::object& copy) {
  const py::object view = numpy_view(array, false);
  const py::object wanted = dtype.is_none() ? py::object(view.attr("dtype"))
                                            : py::object(py::module_::import("numpy").attr("dtype")(dtype));
  const bool may_copy = copy.is_none() || copy.cast<bool>();
  const bool must_copy = !copy.is_none() && may_copy;
  if (wanted.equal(view.attr("dtype"))) return must_copy ? py::object(view.attr("copy")()) : view;
  NOVAPHY_REQUIRE(may_copy, ErrorKind::value, describe(array), " is ", to_string(array.dtype()),
                  ": giving it as ", std::string(py::str(wanted)),
                  " needs a copy, and copy=False was asked for");
  return view.attr("astype")(wanted);
}

/// The value of `__array_interface__`: read-only, version 3.
inline py::dict array_interface(const DeviceArray& array) {
  require_cpu(array, "__array_interface__");
  refuse_in_capture("__array_interface__, the values of an array on the host");
  static constexpr const char* kTypes[] = {"<f4", "<i4", "<u4", "|u1"};
  py::dict out;
  out["version"] = 3;
  out["shape"] = shape_tuple(array.shape());
  out["typestr"] = kTypes[static_cast<std::size_t>(array.dtype())];
  out["strides"] = py::none();
  const void* data = array.storage() ? array.storage()->data() : nullptr;
  out["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(data), true);
  return out;
}

/// (device type, ordinal) as DLPack numbers them.
inline py::tuple dlpack_device(const DeviceArray& array) {
  const Device device = array.device();
  return py::make_tuple(device.is_cpu() ? dlpack::kCpu : dlpack::kCuda, device.ordinal);
}

namespace detail {
template <class Managed>
struct DlpackHold {
  Managed managed{};
  std::shared_ptr<Storage> storage;
  std::int64_t shape[Shape::kMaxDims]{};
};

template <class Managed>
py::capsule dlpack_export(const DeviceArray& array, const char* name) {
  static constexpr std::uint8_t kCodes[] = {dlpack::kFloat, dlpack::kInt, dlpack::kUint, dlpack::kUint};
  auto hold = std::make_unique<DlpackHold<Managed>>();
  hold->storage = array.storage();
  for (int i = 0; i < array.shape().ndim(); ++i) hold->shape[i] = array.shape()[i];
  dlpack::Tensor& tensor = hold->managed.tensor;
  tensor.data = hold->storage ? hold->storage->data_without_version() : nullptr;
  tensor.device = {array.device().is_cpu() ? dlpack::kCpu : dlpack::kCuda, array.device().ordinal};
  tensor.ndim = array.shape().ndim();
  tensor.dtype = {kCodes[static_cast<std::size_t>(array.dtype())],
                  static_cast<std::uint8_t>(8 * size_of(array.dtype())), 1};
  tensor.shape = hold->shape;
  hold->managed.context = hold.get();
  hold->managed.deleter = [](Managed* self) { delete static_cast<DlpackHold<Managed>*>(self->context); };
  // A consumer renames the capsule; one that still has its first name was never consumed and is ours to free.
  PyObject* capsule = PyCapsule_New(&hold->managed, name, [](PyObject* object) {
    const char* present = PyCapsule_GetName(object);
    if (present != nullptr && std::strncmp(present, "used_", 5) == 0) return;
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(object, present));
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  });
  if (capsule == nullptr) throw py::error_already_set();
  hold.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

inline py::capsule dlpack_export_versioned(const DeviceArray& array, std::uint64_t flags) {
  py::capsule capsule = dlpack_export<dlpack::ManagedVersioned>(array, "dltensor_versioned");
  auto* managed =
      static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
  managed->version = {1, 0};
  managed->flags = flags;
  return capsule;
}

/// `own` is memory that nobody else has.
inline py::capsule dlpack_copy(const DeviceArray& own, bool versioned) {
  return versioned ? dlpack_export_versioned(own, dlpack::kIsCopied)
                   : dlpack_export<dlpack::Managed>(own, "dltensor");
}
}  // namespace detail

/// The value of `__dlpack__(max_version, dl_device, copy)`. Readers of DLPack 1 are told that the memory is
/// read-only; older ones cannot be told, so the storage counts as escaped. A copy is the reader's own.
/// BufferError for a device on which the array does not lie.
inline py::capsule dlpack_capsule(const DeviceArray& array, const py::object& max_version,
                                  const py::object& dl_device, const py::object& copy) {
  refuse_in_capture("__dlpack__, the values of an array for another library");
  const py::tuple here = dlpack_device(array);
  if (!dl_device.is_none() && !here.equal(dl_device))
    throw py::buffer_error(text("__dlpack__: ", describe(array), " lies on DLPack device ",
                                std::string(py::str(here)), ", not on ", std::string(py::str(dl_device)),
                                "; move it with .to() first"));
  const bool versioned = !max_version.is_none() && max_version[py::int_(0)].cast<int>() >= 1;
  const bool must_copy = !copy.is_none() && copy.cast<bool>();
  if (must_copy) return detail::dlpack_copy(array.clone(), versioned);
  if (!versioned) {
    if (array.storage()) array.storage()->mark_escaped();
    return detail::dlpack_export<dlpack::Managed>(array, "dltensor");
  }
  return detail::dlpack_export_versioned(array, dlpack::kReadOnly);
}

/// What a conversion into the engine wants. `where` begins the message ("add_particles: pos"); extents of -1
/// are free.
struct ArrayWant {
  std::string where;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
};

namespace detail {
inline std::string shape_text(const std::vector<std::int64_t>& extents) {
  std::string out = "(";
  for (std::size_t i = 0; i < extents.size(); ++i)
    out += (i ? ", " : "") + (extents[i] < 0 ? std::string("n") : std::to_string(extents[i]));
  return out + (extents.size() == 1 ? ",)" : ")");
}

inline std::string wanted(const ArrayWant& want) {
  return text(want.where, " wants ", to_string(want.dtype), " of shape ", shape_text(want.shape));
}

/// Doubles become floats by value; a finite one that no float can hold is refused, not turned into infinity.
inline py::array floats_from_doubles(const py::array& doubles, const ArrayWant& want) {
  const py::array_t<double, py::array::c_style | py::array::forcecast> source(doubles);
  py::array_t<float> out(std::vector<py::ssize_t>(source.shape(), source.shape() + source.ndim()));
  float* to = out.mutable_data();
  for (py::ssize_t i = 0; i < source.size(); ++i) {
    to[i] = static_cast<float>(source.data()[i]);
    NOVAPHY_REQUIRE(!std::isinf(to[i]) || std::isinf(source.data()[i]), ErrorKind::value, wanted(want),
                    ", and ", source.data()[i], " is too large for float32");
  }
  return out;
}

inline py::array integers_in_range(const py::array& given, const ArrayWant& want) {
  const py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> source(given);
  const std::int64_t low = want.dtype == DType::i32 ? std::numeric_limits<std::int32_t>::min() : 0;
  const std::int64_t high = want.dtype == DType::i32   ? std::numeric_limits<std::int32_t>::max()
                            : want.dtype == DType::u32 ? std::numeric_limits<std::uint32_t>::max()
                                                       : std::numeric_limits<std::uint8_t>::max();
  for (py::ssize_t i = 0; i < source.size(); ++i)
    NOVAPHY_REQUIRE(source.data()[i] >= low && source.data()[i] <= high, ErrorKind::value, wanted(want),
                    ", and ", source.data()[i], " does not fit");
  return source.attr("astype")(numpy_dtype(want.dtype));
}
}  // namespace detail

namespace detail {
/// numpy.asarray, whose complaint becomes a TypeError that begins with `wanted`. What is no complaint of a
/// conversion (KeyboardInterrupt, a missing NumPy) passes unchanged.
inline py::array as_array(const py::handle& value, const std::string& wanted) {
  const py::module_ numpy = py::module_::import("numpy");
  try {
    return numpy.attr("asarray")(value);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    fail(ErrorKind::type, wanted, ", got ", std::string(py::str(py::type::handle_of(value).attr("__name__"))),
         " that is no array: ", std::string(py::str(error.value())));
  }
}
}  // namespace detail

/// A packed NumPy array of the wanted type from anything array-like (lists, any number type, strided views,
/// DLPack). Values are converted, bits never reinterpreted. A number does for an array of one element. TypeError and ShapeMismatchError name the
/// argument, and type and shape wanted and given.
inline py::array convert_array(const py::handle& value, const ArrayWant& want) {
  py::array given = detail::as_array(value, detail::wanted(want));
  std::vector<std::int64_t> shape(given.shape(), given.shape() + given.ndim());
  const std::string got = text(std::string(py::str(given.dtype())), " of shape ", detail::shape_text(shape));
  const char kind = given.dtype().kind();
  const bool whole = kind == 'i' || kind == 'u' || kind == 'b';
  const bool no_values = given.size() == 0;  // an empty list is float64 to NumPy
  NOVAPHY_REQUIRE(whole || (kind == 'f' && (want.dtype == DType::f32 || no_values)), ErrorKind::type,
                  detail::wanted(want), ", got ", got,
                  want.dtype == DType::f32 ? "" : "; round it yourself, for example with .astype('int32')");
  bool fits = shape.size() == want.shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = want.shape[i] < 0 || want.shape[i] == shape[i];
  // an empty sequence stands for no rows of any width
  if (!fits && no_values && shape.size() == 1 && !want.shape.empty() && want.shape[0] <= 0) {
    std::vector<py::ssize_t> rows(want.shape.begin(), want.shape.end());
    rows[0] = 0;
    return py::array(numpy_dtype(want.dtype), rows);
  }
  // a number stands for the only element
  const bool one = std::ranges::all_of(want.shape, [](std::int64_t extent) { return extent == 1; });
  if (!fits && shape.empty() && one)
    return convert_array(given.reshape(std::vector<py::ssize_t>(want.shape.begin(), want.shape.end())), want);
  NOVAPHY_REQUIRE(fits, ErrorKind::shape_mismatch, detail::wanted(want), ", got ", got);
  if (want.dtype != DType::f32) return detail::integers_in_range(given, want);
  if (kind == 'f' && given.itemsize() >= 8) return detail::floats_from_doubles(given, want);
  return py::array_t<float, py::array::c_style | py::array::forcecast>(given);
}

/// Copies anything array-like into the memory of `target`.
inline void assign_array(DeviceArray& target, const py::handle& value, const std::string& where) {
  if (py::isinstance<DeviceArray>(value)) {
    const auto& source = value.cast<const DeviceArray&>();
    NOVAPHY_REQUIRE(source.dtype() == target.dtype(), ErrorKind::type, where, " wants ",
                    to_string(target.dtype()), " of shape ", to_string(target.shape()), ", got ",
                    to_string(source.dtype()), " of shape ", to_string(source.shape()));
    NOVAPHY_REQUIRE(source.shape() == target.shape(), ErrorKind::shape_mismatch, where, " wants ",
                    to_string(target.dtype()), " of shape ", to_string(target.shape()), ", got ",
                    to_string(source.dtype()), " of shape ", to_string(source.shape()));
    target.copy_from(source);
    return;
  }
  const auto extents = target.shape().extents();
  const py::array host = convert_array(value, {where, target.dtype(), {extents.begin(), extents.end()}});
  if (host.size() > 0) target.assign_bytes(host.data(), static_cast<std::size_t>(host.nbytes()));
}

/// A new array from anything array-like of the given type; its shape is the value's.
inline DeviceArray new_array(const py::handle& value, DType dtype, const std::string& where,
                             Device device = {}) {
  const py::array given = detail::as_array(value, text(where, " wants ", to_string(dtype)));
  NOVAPHY_REQUIRE(given.ndim() <= Shape::kMaxDims, ErrorKind::shape_mismatch, where, " takes at most ",
                  Shape::kMaxDims, " dimensions, got ", given.ndim());
  const std::vector<std::int64_t> extents(given.shape(), given.shape() + given.ndim());
  DeviceArray out(dtype, Shape(std::span<const std::int64_t>(extents)), device);
  assign_array(out, given, where);
  return out;
}

}  // namespace novaphy::python
