// SPDX-License-Identifier: Apache-2.0
// The columns of ModelBuilder (builder.joint_q, builder.particle_q, ...) as sequences whose numbers may be
// changed.
#include <pybind11/numpy.h>

#include "builder.hpp"
#include "novaphy/python_arrays.hpp"

namespace novaphy::python {
namespace {

/// One column of a builder. Its length belongs to the builder; it holds no memory of its own, because the
/// builder's moves.
template <class T>
struct Column {
  std::shared_ptr<ModelBuilder> builder;
  std::vector<T> ModelBuilder::*values;
  std::int64_t width;
  const char* name;

  std::vector<T>& flat() const { return builder.get()->*values; }
  std::int64_t rows() const { return static_cast<std::int64_t>(flat().size()) / width; }
};

/// A copy, (rows) or (rows, width).
template <class T>
py::array copy_of(const Column<T>& column) {
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(column.rows())};
  if (column.width > 1) shape.push_back(static_cast<py::ssize_t>(column.width));
  return py::array_t<T>(shape, column.flat().data());
}

template <class T>
void write_back(const Column<T>& column, const py::array& values) {
  const py::array_t<T, py::array::c_style> packed(values);
  std::copy_n(packed.data(), column.flat().size(), column.flat().begin());
}

/// column[index] = value through NumPy's indexing, with the kind of the values checked.
template <class T>
void set_item(const Column<T>& column, const py::object& index, const py::object& value) {
  py::array whole = copy_of(column);
  const py::array given = py::module_::import("numpy").attr("asarray")(value);
  const std::vector<std::int64_t> shape(given.shape(), given.shape() + given.ndim());
  whole[index] =
      convert_array(given, {text("ModelBuilder.", column.name, "[...]"), dtype_of<T>::value, shape});
  write_back(column, whole);
}

template <class T>
void bind_column(py::module_& m, const char* name) {
  py::class_<Column<T>>(m, name,
                        "A column of a ModelBuilder: numbers may be changed, rows come from add_* calls.")
      .def("__len__", &Column<T>::rows)
      .def(
          "__getitem__",
          [](const Column<T>& self, const py::object& index) {
            const py::object item = copy_of(self)[index];
            return py::hasattr(item, "tolist") ? py::object(item.attr("tolist")()) : item;
          },
          py::arg("index"))
      .def("__setitem__", &set_item<T>, py::arg("index"), py::arg("value"))
      .def(
          "__array__",
          [](const Column<T>& self, const py::object& dtype, const py::object& copy) {
            NOVAPHY_REQUIRE(copy.is_none() || copy.cast<bool>(), ErrorKind::value, "ModelBuilder.", self.name,
                            ": it has no memory of its own to show, and copy=False was asked for");
            const py::object made = copy_of(self);
            return dtype.is_none() ? made : py::object(made.attr("astype")(dtype));
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("tolist", [](const Column<T>& self) { return copy_of(self).attr("tolist")(); })
      .def("__repr__", [](const Column<T>& self) { return py::repr(copy_of(self).attr("tolist")()); });
}

template <class T>
void def_column(BuilderClass& cls, const char* name, std::vector<T> ModelBuilder::*values, std::int64_t width,
                const char* doc) {
  cls.def_property(
      name,
      [=](const std::shared_ptr<ModelBuilder>& self) {
        return Column<T>{self, values, width, name};
      },
      [=](const std::shared_ptr<ModelBuilder>& self, const py::object& given) {
        const Column<T> column{self, values, width, name};
        std::vector<std::int64_t> shape{column.rows()};
        if (width > 1) shape.push_back(width);
        write_back(column, convert_array(given, {text("ModelBuilder.", name), dtype_of<T>::value, shape}));
      },
      doc);
}

}  // namespace

void bind_builder_columns(py::module_& m, BuilderClass& cls) {
  bind_column<float>(m, "FloatColumn");
  bind_column<std::int32_t>(m, "IntColumn");
#define X(name, dtype, frequency, width, doc) def_column(cls, #name, &ModelBuilder::name, width, doc);
#include "novaphy/model_arrays.inc"
}

}  // namespace novaphy::python
