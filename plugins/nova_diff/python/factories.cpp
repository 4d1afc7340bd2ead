// SPDX-License-Identifier: Apache-2.0
// New tensors.
#include <pybind11/stl.h>

#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "novaphy/nova/tape.hpp"
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
  if (is_recording() && (py::isinstance<Tensor>(data) || py::isinstance<novaphy::DeviceArray>(data))) {
    const Tensor source =
        py::isinstance<Tensor>(data) ? data.cast<Tensor>() : Tensor(data.cast<novaphy::DeviceArray>());
    if (source.dtype() == DType::f32 && (device.is_none() || device_of(device) == source.array().device())) {
      Tensor copy = source.clone();
      return requires_grad ? copy.set_requires_grad(true) : copy;
    }
  }
  refuse_tensors_inside(data, "nova.tensor");
  Tensor out(novaphy::python::new_array(data, dtype_of_data(data), "nova.tensor: data", device_of(device)));
  return out.set_requires_grad(requires_grad);
}

Tensor filled(const ShapeArgument& shape, double number, DType dtype, const py::object& device,
              bool requires_grad) {
  const float value = novaphy::python::float32_of(number, "nova.full: value");
  Tensor out(shape_of(shape), dtype, device_of(device));
  if (number != 0.0 && out.size() > 0) {
    const NoGrad constant;
    out.fill(dtype == DType::f32 ? value : number, "nova.full");
  }
  return out.set_requires_grad(requires_grad);
}

/// Integers give int32, anything else float32; as NumPy counts the elements.
Tensor arange(const py::object& start, const py::object& stop, const py::object& step,
              const py::object& device, bool requires_grad) {
  const py::object from = stop.is_none() ? py::int_(0) : start, to = stop.is_none() ? start : stop;
  const auto is_whole = [](const py::object& number) { return PyIndex_Check(number.ptr()) != 0; };
  const bool whole = is_whole(from) && is_whole(to) && is_whole(step);
  const DType dtype = whole ? DType::i32 : DType::f32;
  const py::object values = py::module_::import("numpy").attr("arange")(from, to, step);
  return Tensor(novaphy::python::new_array(values, dtype, "nova.arange: values", device_of(device)))
      .set_requires_grad(requires_grad);
}

}  // namespace

void bind_factories(py::module_& m) {
  m.def("tensor", &from_data, py::arg("data"), py::kw_only(), py::arg("device") = py::none(),
        py::arg("requires_grad") = false,
        "A new tensor with a copy of anything array-like, of its shape. float32, unless the data is an array "
        "of int32, uint32 or uint8. Inside a recording, tensor(x) of a tensor is x.clone(), and a list of "
        "tensors is refused: TypeError, as for what is no array of numbers. ValueError for numbers that the "
        "type cannot hold.");
  m.def(
      "zeros",
      [](const ShapeArgument& shape, DType dtype, const py::object& device, bool requires_grad) {
        return filled(shape, 0.0, dtype, device, requires_grad);
      },
      novaphy::python::integer("shape"), py::kw_only(), py::arg("dtype") = DType::f32,
      py::arg("device") = py::none(), py::arg("requires_grad") = false,
      "A new tensor of zeros. `shape`: a number of elements, or up to four extents. device=None: where the "
      "engine puts new arrays. TypeError for requires_grad with an integer dtype.");
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
      py::arg("device") = py::none(), py::arg("requires_grad") = false,
      "A new tensor of ones. Arguments and errors as of zeros.");
  m.def("full", &filled, novaphy::python::integer("shape"), py::arg("value"), py::kw_only(),
        py::arg("dtype") = DType::f32, py::arg("device") = py::none(), py::arg("requires_grad") = false,
        "A new tensor that holds `value` everywhere. ValueError for a number that the type cannot hold; "
        "otherwise as zeros.");
  m.def(
      "zeros_like",
      [](const Tensor& like, bool requires_grad) {
        return Tensor(like.shape(), like.dtype(), like.array().device()).set_requires_grad(requires_grad);
      },
      py::arg("tensor"), py::kw_only(), py::arg("requires_grad") = false,
      "A new tensor of zeros with the shape, dtype and device of `tensor`.");
  m.def("arange", &arange, py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1, py::kw_only(),
        py::arg("device") = py::none(), py::arg("requires_grad") = false,
        "start, start + step, ... below stop; arange(stop) begins at 0. int32 for integers, else float32.");
}

}  // namespace nova::python
