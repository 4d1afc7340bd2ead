// SPDX-License-Identifier: Apache-2.0
// t[...]: views of what is packed, recorded copies of columns and strides; assignment to parts.
#include "novaphy/nova/indexing.hpp"

#include <pybind11/stl.h>

#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/python.hpp"
#include "novaphy/python_arrays.hpp"
#include "traced.hpp"

namespace nova::python {
namespace {

using novaphy::ErrorKind;

AxisRange range_of(const py::handle& index, std::int64_t extent, int axis, const Tensor& self) {
  if (PySlice_Check(index.ptr())) {
    py::ssize_t start = 0, stop = 0, step = 1;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
    const py::ssize_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
    return {start, count, step, false};
  }
  // an array of NumPy passes PyIndex_Check and still is no index
  py::object whole;
  if (PyIndex_Check(index.ptr()) && !PyBool_Check(index.ptr()))
    whole = py::reinterpret_steal<py::object>(PyNumber_Index(index.ptr()));
  if (!whole) PyErr_Clear();
  NOVAPHY_REQUIRE(whole, ErrorKind::type, "nova.Tensor: an index is an integer, a slice or ..., not a ",
                  std::string(py::str(py::type::handle_of(index).attr("__name__"))),
                  "; a kernel gathers rows by an index tensor");
  int overflow = 0;
  const std::int64_t given = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  NOVAPHY_REQUIRE(overflow == 0, ErrorKind::index, "nova.Tensor: index ", std::string(py::str(whole)),
                  " is out of range for axis ", axis, " of shape ", to_string(self.shape()));
  NOVAPHY_REQUIRE(-extent <= given && given < extent, ErrorKind::index, "nova.Tensor: index ", given,
                  " is out of range for axis ", axis, " of shape ", to_string(self.shape()));
  return {given < 0 ? given + extent : given, 1, 1, true};
}

std::vector<AxisRange> ranges_of(const Tensor& self, const py::object& key) {
  const py::tuple indices = py::isinstance<py::tuple>(key) ? py::tuple(key) : py::make_tuple(key);
  const int ndim = self.shape().ndim();
  const auto is_ellipsis = [](const py::handle& index) { return index.ptr() == Py_Ellipsis; };
  int given = 0;
  for (const py::handle index : indices) given += is_ellipsis(index) ? 0 : 1;
  NOVAPHY_REQUIRE(given <= ndim, ErrorKind::index, "nova.Tensor: ", given,
                  " indices were given for a tensor of shape ", to_string(self.shape()));
  std::vector<AxisRange> out;
  const auto whole_axes = [&](int count) {
    for (int i = 0; i < count; ++i) out.push_back({0, self.shape()[static_cast<int>(out.size())], 1, false});
  };
  bool expanded = false;
  for (const py::handle index : indices) {
    if (is_ellipsis(index)) {
      NOVAPHY_REQUIRE(!expanded, ErrorKind::index, "nova.Tensor: '...' stands twice in the index");
      expanded = true;
      whole_axes(ndim - given);
      continue;
    }
    const int axis = static_cast<int>(out.size());
    out.push_back(range_of(index, self.shape()[axis], axis, self));
  }
  whole_axes(ndim - static_cast<int>(out.size()));
  return out;
}

void set_part(Tensor& self, const py::object& key, const py::object& value) {
  const std::vector<AxisRange> axes = ranges_of(self, key);
  Tensor source(selected_shape(axes), self.dtype(), self.array().device());
  if (!is_number(value) || py::isinstance<Tensor>(value))
    return assign_selected(self, axes, source_of(source, value));
  {
    const NoGrad constant;
    const double number = py::float_(value);
    if (self.dtype() == novaphy::DType::f32)
      novaphy::python::float32_of(number, "nova.Tensor.__setitem__: value");
    source.fill(number);
  }
  assign_selected(self, axes, source);
}

}  // namespace

void bind_indexing(py::module_&, py::class_<Tensor>& c) {
  c.def(
       "__getitem__",
       [](const Tensor& self, const py::object& key) { return select(self, ranges_of(self, key)); },
       py::arg("key"),
       "Integers, slices and '...'. What lies packed in memory (rows, a range of rows) is a view; columns "
       "and strides are recorded copies. Gradient flows through both. IndexError, TypeError.")
      .def("__setitem__", &set_part, py::arg("key"), py::arg("value"),
           "Writes a number, a tensor or anything array-like of the part's shape to a part; recorded.")
      .def("__iter__",
           [](const py::object& self) {
             NOVAPHY_REQUIRE(self.cast<const Tensor&>().shape().ndim() > 0, ErrorKind::type,
                             "iteration over a nova.Tensor: it has no dimensions");
             return py::reinterpret_steal<py::object>(PySeqIter_New(self.ptr()));
           })
      .def(
          "reshape",
          [](const Tensor& self, const py::args& extents) {
            const bool one = extents.size() == 1 && py::isinstance<py::sequence>(extents[0]);
            std::vector<std::int64_t> shape;
            for (const py::handle extent : one ? py::object(extents[0]) : py::object(extents)) {
              NOVAPHY_REQUIRE(PyLong_Check(extent.ptr()) || py::hasattr(extent, "__index__"), ErrorKind::type,
                              "nova.Tensor.reshape: an extent is an integer, not a ",
                              std::string(py::str(py::type::handle_of(extent).attr("__name__"))));
              shape.push_back(py::cast<std::int64_t>(extent));
            }
            std::int64_t known = 1, *open = nullptr;
            for (std::int64_t& extent : shape) {
              if (extent != -1) {
                known *= extent;
                continue;
              }
              NOVAPHY_REQUIRE(open == nullptr, ErrorKind::value,
                              "nova.Tensor.reshape: only one extent may be -1");
              open = &extent;
            }
            NOVAPHY_REQUIRE(open == nullptr || known != 0, ErrorKind::value,
                            "nova.Tensor.reshape: an extent of -1 beside one of 0 may be any number");
            if (open != nullptr && known > 0) *open = self.size() / known;
            return self.reshape(novaphy::Shape(std::span<const std::int64_t>(shape)));
          },
          "A view of the same elements with another shape; one extent may be -1. ShapeMismatchError.");
}

}  // namespace nova::python
