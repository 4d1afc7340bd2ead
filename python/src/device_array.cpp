// SPDX-License-Identifier: Apache-2.0
// DeviceArray: the engine's arrays as Python sees them. Everything that leaves is a read-only view unless
// asked for.
#include "bindings.hpp"
#include "novaphy/python_arrays.hpp"

namespace novaphy::python {
namespace {

/// What arr[index] = value needs: a view that may be written, and a value whose kind fits (NumPy itself would
/// cut 1.1 down to 1 without a word).
void set_item(DeviceArray& self, const py::object& index, const py::object& value) {
  py::array target = detail::numpy_on(self, true);
  const py::object part = target[index];
  std::vector<std::int64_t> shape;
  if (py::isinstance<py::array>(part))
    for (const py::handle extent : part.attr("shape")) shape.push_back(extent.cast<std::int64_t>());
  const py::array given = py::module_::import("numpy").attr("asarray")(value);
  const std::vector<std::int64_t> own(given.shape(), given.shape() + given.ndim());
  // a single number fills whatever the index selects
  const py::array converted =
      convert_array(given, {describe(self) + "[...]", self.dtype(), own.empty() ? own : shape});
  target[index] = converted;
  if (self.storage()) self.storage()->raise_version();
}

void fill(DeviceArray& self, const py::object& value) {
  const py::array one = convert_array(value, {"fill_ of " + describe(self), self.dtype(), {}});
  if (self.empty()) return;
  detail::numpy_on(self, true).attr("fill")(one);
  self.storage()->raise_version();
}

DeviceArray to_device(const DeviceArray& self, const py::object& device) {
  const Device wanted = device_argument(device);
  if (wanted == self.device()) return self;
  DeviceArray out(self.dtype(), self.shape(), wanted);
  out.copy_from(self);
  return out;
}

std::string repr(const DeviceArray& self) {
  std::string head = text("DeviceArray(shape=", std::string(py::str(shape_tuple(self.shape()))),
                          ", dtype=", to_string(self.dtype()), ", device='", to_string(self.device()), "'");
  if (self.storage() && !self.storage()->label().name.empty())
    head += ", " + to_string(self.storage()->label());
  return head + ")";
}

py::tuple pickled(const DeviceArray& self) {
  const auto* bytes = self.storage() ? static_cast<const char*>(self.storage()->data()) : nullptr;
  return py::make_tuple(static_cast<int>(self.dtype()), shape_tuple(self.shape()),
                        py::bytes(bytes, self.bytes()));
}

}  // namespace

py::tuple array_to_tuple(const DeviceArray& array) {
  require_cpu(array, "pickle");
  return pickled(array);
}

DeviceArray array_from_tuple(const py::tuple& state) {
  const auto extents = state[1].cast<std::vector<std::int64_t>>();
  DeviceArray out(static_cast<DType>(state[0].cast<int>()), Shape(std::span<const std::int64_t>(extents)));
  const auto bytes = state[2].cast<std::string_view>();
  out.assign_bytes(bytes.data(), bytes.size());
  return out;
}

void bind_device_array(py::module_& m) {
  py::class_<DeviceArray>(m, "DeviceArray",
                          "A packed array of float32, int32, uint32 or uint8 in the engine's memory. Handles "
                          "share memory, as in NumPy.")
      .def(py::init([](const py::object& data, const py::object& dtype, const py::object& device) {
             return new_array(data, dtype.is_none() ? DType::f32 : dtype_argument(dtype, "DeviceArray"),
                              "DeviceArray: data", device_argument(device));
           }),
           py::arg("data"), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
           "Copies anything array-like. dtype defaults to float32.")
      .def_property_readonly("shape", [](const DeviceArray& self) { return shape_tuple(self.shape()); })
      .def_property_readonly("strides", &stride_tuple, "Bytes between neighbours along each axis.")
      .def_property_readonly("dtype", [](const DeviceArray& self) { return numpy_dtype(self.dtype()); })
      .def_property_readonly("ndim", [](const DeviceArray& self) { return self.shape().ndim(); })
      .def_property_readonly("size", &DeviceArray::size)
      .def_property_readonly("nbytes", &DeviceArray::bytes)
      .def_property_readonly("device", &DeviceArray::device)
      .def_property_readonly("version", &DeviceArray::version, "Grows with every write through the engine.")
      .def_property_readonly(
          "requires_grad",
          [](const DeviceArray& self) { return self.storage() && self.storage()->requires_grad(); },
          "Whether the gradient is kept after backward.")
      .def_property_readonly(
          "ptr",
          [](const DeviceArray& self) {
            return reinterpret_cast<std::uintptr_t>(self.storage() ? self.storage()->data() : nullptr);
          })
      .def_property_readonly(
          "grad",
          [](const py::object& self) {
            return py::module_::import("novaphy._lazy").attr("extension")("nova").attr("array_grad")(self);
          },
          "The gradient that the last backward left here, or None: the same buffer as the cached view's.")
      .def("numpy", &numpy_view, py::kw_only(), py::arg("writable") = false,
           "A zero-copy view. A writable one makes recordings compare contents, because writes through it "
           "are unseen.")
      .def(
          "assign",
          [](DeviceArray& self, const py::object& value) {
            assign_array(self, value, "assign to " + describe(self));
          },
          py::arg("value"), "Copies anything array-like of this shape into the memory.")
      .def(
          "fill_", [](DeviceArray& self, const py::object& value) { fill(self, value); }, py::arg("value"),
          "Fills the memory with one number.")
      .def("zero_", &DeviceArray::zero, "Fills the memory with zeros.")
      .def("clone", &DeviceArray::clone, "A copy in memory of its own.")
      .def(
          "copy_from", [](DeviceArray& self, const DeviceArray& source) { self.copy_from(source); },
          py::arg("source"), "Copies another DeviceArray of the same type and shape.")
      .def("to", &to_device, py::arg("device"), "This array when it lies there already, else a copy.")
      .def(
          "view", [](const DeviceArray& self) { return self; }, "Another handle on the same memory.")
      .def(
          "tolist",
          [](const DeviceArray& self) { return py::object(numpy_view(self, false).attr("tolist")()); },
          "The numbers as nested lists.")
      .def("__len__",
           [](const DeviceArray& self) {
             NOVAPHY_REQUIRE(self.shape().ndim() > 0, ErrorKind::type, "len() of ", describe(self),
                             ": it has no dimensions");
             return self.rows();
           })
      .def(
          "__getitem__",
          [](const DeviceArray& self, const py::object& index) {
            return py::object(numpy_view(self, false)[index]);
          },
          py::arg("index"), "NumPy indexing; slices are read-only views.")
      .def("__setitem__", &set_item, py::arg("index"), py::arg("value"))
      .def("__array__", &numpy_copy_or_view, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def_property_readonly("__array_interface__", &array_interface)
      .def(
          "__dlpack__",
          [](const DeviceArray& self, const py::object&, const py::object& max_version,
             const py::object& dl_device,
             const py::object& copy) { return dlpack_capsule(self, max_version, dl_device, copy); },
          py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
          py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__", &dlpack_device)
      .def("__copy__", &DeviceArray::clone)
      .def(
          "__deepcopy__", [](const DeviceArray& self, const py::dict&) { return self.clone(); },
          py::arg("memo"))
      .def("__repr__", &repr)
      .def(py::pickle(&array_to_tuple, &array_from_tuple));
}

}  // namespace novaphy::python
