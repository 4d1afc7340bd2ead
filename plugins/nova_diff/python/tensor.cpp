// SPDX-License-Identifier: Apache-2.0
// nova.Tensor. Everything that leaves is a read-only view unless asked for.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "novaphy/capture.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::text;

void refuse_tensors_inside(py::handle value, const char* who) {
  if (!is_recording() || !(py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value))) return;
  for (const py::handle entry : value) {
    refuse_tensors_inside(entry, who);
    NOVAPHY_REQUIRE(
        !py::isinstance<Tensor>(entry), ErrorKind::type, who,
        ": a list of tensors would be copied without their gradient; write each to its part of one "
        "tensor: out[i] = x, or give nova.detach(x).numpy()");
  }
}

Tensor source_of(const Tensor& target, const py::object& value) {
  if (py::isinstance<Tensor>(value)) return value.cast<Tensor>();
  if (py::isinstance<DeviceArray>(value)) return Tensor(value.cast<DeviceArray>());
  refuse_tensors_inside(value, "nova.Tensor.assign");
  DeviceArray copy(target.dtype(), target.shape());
  novaphy::python::assign_array(copy, value, "nova.Tensor.assign");
  return Tensor(std::move(copy));
}

namespace {

py::object item(const Tensor& self) {
  NOVAPHY_REQUIRE(self.size() == 1, ErrorKind::value, "nova.Tensor.item: the tensor has shape ",
                  to_string(self.shape()), ", one element is wanted");
  novaphy::refuse_in_capture("nova.Tensor.item");
  return novaphy::python::numpy_view(self.array(), false).attr("item")();
}

std::string repr(const Tensor& self) {
  return text("Tensor(shape=", std::string(py::str(novaphy::python::shape_tuple(self.shape()))),
              ", dtype=", to_string(self.dtype()), ", device='", to_string(self.array().device()), "'",
              self.requires_grad() ? ", requires_grad=True)" : ")");
}

void bind_properties(py::class_<Tensor>& c) {
  c.def_property_readonly(
       "shape", [](const Tensor& self) { return novaphy::python::shape_tuple(self.shape()); },
       "Up to four extents, a tuple.")
      .def_property_readonly(
          "ndim", [](const Tensor& self) { return self.shape().ndim(); }, "Number of dimensions.")
      .def_property_readonly("size", &Tensor::size, "Number of elements.")
      .def_property_readonly("dtype", &Tensor::dtype, "Element type, a nova.DType.")
      .def_property_readonly(
          "device", [](const Tensor& self) { return self.array().device(); }, "Where the memory lies.")
      .def_property(
          "requires_grad", &Tensor::requires_grad,
          [](Tensor& self, bool wanted) { self.set_requires_grad(wanted); },
          "Whether backward keeps the gradient of this array. TypeError for integer tensors.")
      .def_property_readonly(
          "grad", &Tensor::grad,
          "The gradient that backward left; None before, and where the loss did not depend on this array. "
          "GradientNotReadyError inside an open recording.")
      .def_property_readonly(
          "is_external", [](const Tensor& self) { return self.storage() && self.storage()->is_external(); },
          "Whether another library owns the memory.")
      .def_property_readonly(
          "ptr",
          [](const Tensor& self) {
            return reinterpret_cast<std::uintptr_t>(self.storage() ? self.storage()->data() : nullptr);
          },
          "Address of the first element.")
      .def_property_readonly(
          "strides", [](const Tensor& self) { return novaphy::python::stride_tuple(self.array()); },
          "Bytes between neighbours along each axis; a tensor is packed.")
      .def_property_readonly(
          "nbytes", [](const Tensor& self) { return self.array().bytes(); }, "Bytes of all elements.");
}

void bind_memory(py::class_<Tensor>& c) {
  c.def(
       "numpy",
       [](const Tensor& self, bool writable) { return novaphy::python::numpy_view(self.array(), writable); },
       py::kw_only(), py::arg("writable") = false,
       "A view without a copy. A writable one makes recordings compare contents, because writes through it "
       "are unseen.")
      .def(
          "__array__",
          [](const Tensor& self, const py::object& dtype, const py::object& copy) {
            return novaphy::python::numpy_copy_or_view(self.array(), dtype, copy);
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def_property_readonly(
          "__array_interface__",
          [](const Tensor& self) { return novaphy::python::array_interface(self.array()); })
      .def(
          "__dlpack__",
          [](const Tensor& self, const py::object&, const py::object& max_version,
             const py::object& dl_device, const py::object& copy) {
            return novaphy::python::dlpack_capsule(self.array(), max_version, dl_device, copy);
          },
          py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
          py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__",
           [](const Tensor& self) { return novaphy::python::dlpack_device(self.array()); })
      .def("__len__", [](const Tensor& self) {
        NOVAPHY_REQUIRE(self.shape().ndim() > 0, ErrorKind::type,
                        "len() of a nova.Tensor: it has no dimensions");
        return self.rows();
      });
}

/// What changes the memory.
void bind_writes(py::class_<Tensor>& c) {
  c.def(
       "assign", [](Tensor& self, const py::object& value) { self.assign(source_of(self, value)); },
       py::arg("value"), "Copies a tensor or anything array-like of this shape into the memory; recorded.")
      .def(
          "fill_",
          [](Tensor& self, const Number& given) {
            const double value = number_of(given, "nova.Tensor.fill_: value");
            if (self.dtype() == DType::f32) novaphy::python::float32_of(value, "nova.Tensor.fill_: value");
            self.fill(value, "nova.Tensor.fill_");
          },
          py::arg("value"),
          "Recorded: the gradient of what was there before ends here. ValueError for a number that the type "
          "cannot hold.")
      .def("zero_", &Tensor::zero, "The same as fill_(0).");
}

/// Copies, and the gradient that they carry or cut.
void bind_copies(py::class_<Tensor>& c) {
  c.def("zero_grad", &Tensor::zero_grad,
        "Drops the gradient: .grad is None again. That of the whole array, also through a slice.")
      .def(
          "to",
          [](const Tensor& self, const py::object& device) {
            return self.to(
                py::module_::import("novaphy._core").attr("device_of")(device).cast<novaphy::Device>());
          },
          py::arg("device"),
          "The tensor where it lies on `device`. PluginNotAvailableError without a backend.")
      .def("clone", &Tensor::clone,
           "A copy in memory of its own; recorded, so gradient flows back through it.")
      .def("detach", &Tensor::detach, "A copy in memory of its own that no gradient flows through.");
}

/// What Python asks of an object.
void bind_as_object(py::class_<Tensor>& c) {
  c.def("item", &item, "The only element as a number. ValueError unless size is 1.")
      .def("__bool__",
           [](const Tensor& self) {
             NOVAPHY_REQUIRE(self.size() == 1, ErrorKind::value, "the truth of a nova.Tensor of shape ",
                             to_string(self.shape()), " is not known; take .item() of one element");
             return py::cast<bool>(py::bool_(item(self)));
           })
      .def(
          "__eq__",
          [](const Tensor&, const py::object& other) -> py::object {
            NOVAPHY_REQUIRE(
                !is_tensor(other) && !PyNumber_Check(other.ptr()), ErrorKind::type,
                "nova.Tensor: == and != would not compare elements; compare a.numpy() == b.numpy(), or "
                "ask 'a is b' for the same object");
            return py::reinterpret_borrow<py::object>(Py_NotImplemented);
          },
          py::arg("other"), "TypeError for a tensor or a number: elements are compared as NumPy arrays.")
      .def("__hash__",
           [](const py::object& self) { return reinterpret_cast<std::intptr_t>(self.ptr()) >> 4; })
      .def("__float__", [](const Tensor& self) { return py::float_(item(self)); })
      .def("__repr__", &repr);
}

}  // namespace

void bind_tensor(py::module_& m) {
  py::enum_<DType>(m, "DType", "Element types. Gradients exist for F32 only.")
      .value("F32", DType::f32)
      .value("I32", DType::i32)
      .value("U32", DType::u32)
      .value("U8", DType::u8);

  py::class_<Tensor> c(m, "Tensor",
                       "A packed array that takes part in recordings, often a view of an array of the "
                       "engine. Handles share memory; all tensors over one array share its gradient.");
  c.def(py::init([](const DeviceArray& array) { return Tensor(array); }), py::arg("array"),
        "A view of an array of the engine.");
  py::implicitly_convertible<DeviceArray, Tensor>();
  // NumPy would compute on the memory and return an array without gradient.
  c.attr("__array_ufunc__") = py::none();
  bind_properties(c);
  bind_memory(c);
  bind_writes(c);
  bind_copies(c);
  bind_as_object(c);
  bind_indexing(m, c);
  bind_operators(m, c);

  // What DeviceArray.grad is.
  m.def(
      "array_grad", [](const DeviceArray& array) { return Tensor(array).grad(); }, py::arg("array"));
}

}  // namespace nova::python
