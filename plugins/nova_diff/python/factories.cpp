// SPDX-License-Identifier: Apache-2.0
// New tensors, and tensors over memory of other libraries.
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "novaphy/nova/capture.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/python.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {
namespace {

using novaphy::Device;
using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;
using novaphy::Storage;

/// None = where the engine puts new arrays.
Device device_of(const py::object& device) {
  return py::module_::import("novaphy._core").attr("device_of")(device).cast<Device>();
}

using ShapeArgument = std::variant<std::int64_t, std::vector<std::int64_t>>;

Shape shape_of(const ShapeArgument& shape) {
  if (const auto* rows = std::get_if<std::int64_t>(&shape)) return Shape{*rows};
  return Shape(std::span<const std::int64_t>(std::get<std::vector<std::int64_t>>(shape)));
}

/// float32, or the array's own type where it is one of the integer types.
DType dtype_of_data(const py::object& data) {
  if (!py::hasattr(data, "dtype")) return DType::f32;
  const py::object own = data.attr("dtype");
  for (const DType dtype : {DType::i32, DType::u32, DType::u8})
    if (own.equal(novaphy::python::numpy_dtype(dtype)) ||
        (py::isinstance<DType>(own) && own.cast<DType>() == dtype))
      return dtype;
  return DType::f32;
}

Tensor from_data(const py::object& data, const py::object& device, bool requires_grad) {
  Tensor out(novaphy::python::new_array(data, dtype_of_data(data), "nova.tensor: data", device_of(device)));
  return out.set_requires_grad(requires_grad);
}

Tensor filled(const ShapeArgument& shape, double number, DType dtype, const py::object& device,
              bool requires_grad) {
  const float value = novaphy::python::float32_of(number, "nova.full: value");
  Tensor out(shape_of(shape), dtype, device_of(device));
  if (value != 0.0f && out.size() > 0) {
    NOVAPHY_REQUIRE(dtype == DType::f32 || value == 1.0f, ErrorKind::type,
                    "nova.full: an integer tensor is filled with 0 or 1, or made with "
                    "nova.tensor from an integer array; ",
                    value, " was given");
    if (dtype == DType::f32 && is_capturing())
      out.fill(value);
    else if (dtype == DType::f32)
      std::fill_n(out.array().write<float>().data(), out.size(), value);
    else if (dtype == DType::u8)
      std::fill_n(out.array().write<std::uint8_t>().data(), out.size(), std::uint8_t{1});
    else if (dtype == DType::u32)
      std::fill_n(out.array().write<std::uint32_t>().data(), out.size(), 1u);
    else
      std::fill_n(out.array().write<std::int32_t>().data(), out.size(), 1);
  }
  return out.set_requires_grad(requires_grad);
}

std::string describe(const py::array& array) {
  return novaphy::text(std::string(py::str(array.dtype())), " of shape ",
                       std::string(py::str(array.attr("shape"))));
}

/// Keeps a Python object alive from C++, from any thread.
std::shared_ptr<void> keep_alive(py::object owner) {
  return {new py::object(std::move(owner)), [](void* object) {
            const py::gil_scoped_acquire gil;
            delete static_cast<py::object*>(object);
          }};
}

Tensor over_memory(const py::object& source, bool requires_grad) {
  if (py::isinstance<Tensor>(source) || py::isinstance<DeviceArray>(source)) {
    Tensor out = py::isinstance<Tensor>(source) ? source.cast<Tensor>() : Tensor(source.cast<DeviceArray>());
    if (requires_grad) out.set_requires_grad(true);
    return out;
  }
  const bool has_memory = py::hasattr(source, "__array_interface__") || py::hasattr(source, "__dlpack__") ||
                          py::hasattr(source, "__array__");
  NOVAPHY_REQUIRE(has_memory, ErrorKind::type, "nova.as_tensor: wants packed float32 memory, got ",
                  std::string(py::str(py::type::of(source).attr("__name__"))),
                  "; nova.tensor copies anything array-like");
  const py::module_ numpy = py::module_::import("numpy");
  const py::array array = py::hasattr(source, "__array_interface__") || !py::hasattr(source, "__dlpack__")
                              ? numpy.attr("asarray")(source)
                              : numpy.attr("from_dlpack")(source);
  NOVAPHY_REQUIRE(array.dtype().equal(novaphy::python::numpy_dtype(DType::f32)), ErrorKind::type,
                  "nova.as_tensor: wants packed float32 memory, got ", describe(array),
                  "; nova.tensor converts with a copy");
  NOVAPHY_REQUIRE(array.flags() & py::array::c_style, ErrorKind::value,
                  "nova.as_tensor: wants packed float32 memory, got ", describe(array), " with strides ",
                  std::string(py::str(array.attr("strides"))), "; nova.tensor copies it");
  NOVAPHY_REQUIRE(array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_, ErrorKind::value,
                  "nova.as_tensor: the memory of ", describe(array),
                  " does not begin at a multiple of 4 bytes; nova.tensor copies it");
  NOVAPHY_REQUIRE(array.writeable(), ErrorKind::value, "nova.as_tensor: the memory of ", describe(array),
                  " is read-only, and a tensor can be written; nova.tensor copies it");
  NOVAPHY_REQUIRE(array.ndim() <= Shape::kMaxDims, ErrorKind::shape_mismatch,
                  "nova.as_tensor: takes at most ", Shape::kMaxDims, " dimensions, got ", array.ndim());
  const std::vector<std::int64_t> extents(array.shape(), array.shape() + array.ndim());
  auto storage = Storage::wrap(array.request().ptr, static_cast<std::size_t>(array.nbytes()), Device{},
                               keep_alive(array), true);
  return Tensor(DeviceArray(std::move(storage), DType::f32, Shape(std::span<const std::int64_t>(extents))))
      .set_requires_grad(requires_grad);
}

}  // namespace

void bind_factories(py::module_& m) {
  m.def("tensor", &from_data, py::arg("data"), py::kw_only(), py::arg("device") = py::none(),
        py::arg("requires_grad") = false,
        "Copies anything array-like. float32, unless the data is an array of int32, uint32 or uint8.");
  m.def(
      "zeros",
      [](const ShapeArgument& shape, DType dtype, const py::object& device, bool requires_grad) {
        return filled(shape, 0.0, dtype, device, requires_grad);
      },
      novaphy::python::integer("shape"), py::kw_only(), py::arg("dtype") = DType::f32,
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def(
      "empty",
      [](const ShapeArgument& shape, DType dtype, const py::object& device, bool requires_grad) {
        return filled(shape, 0.0, dtype, device, requires_grad);
      },
      novaphy::python::integer("shape"), py::kw_only(), py::arg("dtype") = DType::f32,
      py::arg("device") = py::none(), py::arg("requires_grad") = false,
      "Like zeros: memory is always cleared.");
  m.def(
      "ones",
      [](const ShapeArgument& shape, DType dtype, const py::object& device, bool requires_grad) {
        return filled(shape, 1.0, dtype, device, requires_grad);
      },
      novaphy::python::integer("shape"), py::kw_only(), py::arg("dtype") = DType::f32,
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def("full", &filled, novaphy::python::integer("shape"), py::arg("value"), py::kw_only(),
        py::arg("dtype") = DType::f32, py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def(
      "zeros_like",
      [](const Tensor& like, bool requires_grad) {
        return Tensor(like.shape(), like.dtype(), like.array().device()).set_requires_grad(requires_grad);
      },
      py::arg("tensor"), py::kw_only(), py::arg("requires_grad") = false,
      "A new tensor of zeros with the shape, dtype and device of `tensor`.");
  m.def("as_tensor", &over_memory, py::arg("obj"), py::arg("requires_grad") = false,
        "A tensor over packed float32 memory of another library, without a copy. TypeError for other types, "
        "ValueError for memory that is "
        "not packed or may not be written.");
}

}  // namespace nova::python
